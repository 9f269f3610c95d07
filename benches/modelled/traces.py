"""Thread traces that tinygrad recorded on Radeons, as lists of issued instructions.

traces.py CHECKOUT DIRECTORY writes the code and `traces.txt`: for each traced SIMD a line
`trace FOLDER EXAMPLE KERNEL FILE`, and for each of its instructions a line `WAVE OFFSET CYCLE`. Offsets begin at the
kernel's first instruction. tinygrad's own decoder reads the traces (`tinygrad/renderer/amd/sqtt.py`).
"""

import pathlib
import pickle
import struct
import sys

checkout, directory = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(checkout))

from tinygrad.renderer.amd import sqtt  # noqa: E402

# tinygrad's assembler writes a descriptor like this, for the modes of waves of 32 lanes on one compute unit.
SOURCE = """
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
  .long {words}
.Lend:
.size {name}, .Lend-{name}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size {lds_bytes}
  .amdhsa_next_free_vgpr 256
  .amdhsa_next_free_sgpr 104
  .amdhsa_wavefront_size32 1
  .amdhsa_workgroup_processor_mode 0
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds_bytes}
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 104
    .vgpr_count: 256
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
"""


class Event:
    """Any class: the recorded events are older than the checkout, whose classes have other fields."""

    def __new__(cls, *_arguments):
        return object.__new__(cls)

    def __init__(self, *_arguments):
        pass

    def __setstate__(self, state):
        self.__dict__.update(state)


class Unpickler(pickle.Unpickler):
    def find_class(self, _module, name):
        return type(name, (Event,), {})


def issued(blob, code_object, gpu):
    """The instructions of one SIMD: wave in order of start, address, cycle."""
    started, waves = 0, {}
    for packet, instruction in sqtt.map_insts(blob, code_object, gpu):
        if instruction is None:
            continue
        if instruction.wave not in waves:
            waves[instruction.wave] = started
            started += 1
        if type(packet).__name__.startswith("WAVEEND"):
            del waves[instruction.wave]
            continue
        yield waves[instruction.wave], instruction.pc, packet._time


def write_code(stem, program):
    """Writes a code object, or a source if tinygrad assembled the code: its ELF file has no machine and no symbols."""
    (machine,) = struct.unpack_from("<H", program.lib, 18)
    if machine != 0:
        (directory / f"{stem}.co").write_bytes(program.lib)
        return f"{stem}.co"
    (sections,) = struct.unpack_from("<Q", program.lib, 40)
    # The first section is the code, the second the descriptor.
    start, size, descriptor = (struct.unpack_from("<Q", program.lib, sections + at)[0] for at in (24, 32, 64 + 24))
    (lds_bytes,) = struct.unpack_from("<I", program.lib, descriptor)
    words = struct.unpack_from(f"<{size // 4}I", program.lib, start)
    source = SOURCE.format(name=program.name, words=", ".join(map(str, words)), lds_bytes=lds_bytes)
    (directory / f"{stem}.s").write_text(source)
    return f"{stem}.s"


with open(directory / "traces.txt", "w") as listing:
    for gpu in ["gfx1100", "gfx1200"]:
        for path in sorted((checkout / "extra/sqtt/examples" / gpu).glob("profile_*.pkl")):
            with open(path, "rb") as file:
                events = Unpickler(file).load()
            programs = {event.tag: event for event in events if type(event).__name__ == "ProfileProgramEvent"}
            for event in events:
                if type(event).__name__ != "ProfileSQTTEvent" or not event.itrace:
                    continue
                program = programs[event.kern]
                instructions = list(issued(event.blob, program.lib, gpu))
                if len(instructions) < 2:
                    continue
                _, example, _, run = path.stem.split("_")
                code = write_code(f"{gpu}-{example}-{run}", program)
                print("trace", gpu, example, program.name, code, file=listing)
                first = instructions[0][1]
                for wave, address, cycle in instructions:
                    print(wave, address - first, cycle, file=listing)
