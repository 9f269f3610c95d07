"""IREE's compiler and runtime as a client of the emulator: products and a small model, compared with numpy.

Usage: iree.py GPU LIBRARY_DIRECTORY WORK_DIRECTORY

Prints a line for each product, «passed NAME» or «failed NAME: why». The modules take and give f32; those for f16 and bf16 round on the device, and so does the reference.
"""

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
# Sizes of whole tiles and odd ones: m, n, k.
SIZES = [(128, 128, 64), (33, 47, 65), (1, 19, 7)]
# The largest error in units of k · ε · |A||B|, by the unit roundoff of f32, in which all of them accumulate.
UNIT = 2.0**-23


def product(kind, m, n, k):
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    if kind == "f32":
        rounding, x, y = "", "%a", "%b"
    else:
        rounding = f"""
  %x = arith.truncf %a : {a} to {a.replace("f32", kind)}
  %y = arith.truncf %b : {b} to {b.replace("f32", kind)}"""
        x, y = "%x", "%y"
    inputs = f"{a}, {b}".replace("f32", kind)
    return f"""
func.func @main(%a: {a}, %b: {b}) -> {c} {{{rounding}
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {c}
  %start = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
  %c = linalg.matmul ins({x}, {y} : {inputs}) outs(%start : {c}) -> {c}
  return %c : {c}
}}
"""


def model(batch, inputs, hidden, outputs):
    """softmax(relu(x W + b) V + d), row by row."""
    x, w, v = f"tensor<{batch}x{inputs}xf32>", f"tensor<{inputs}x{hidden}xf32>", f"tensor<{hidden}x{outputs}xf32>"
    h, y, b, d = f"tensor<{batch}x{hidden}xf32>", f"tensor<{batch}x{outputs}xf32>", f"tensor<{hidden}xf32>", f"tensor<{outputs}xf32>"
    same = "affine_map<(i, j) -> (i, j)>"
    last = "affine_map<(i, j) -> (j)>"

    def layer(name, source, weights, bias, types, relu):
        source_type, weights_type, bias_type, out = types
        maximum = (
            "%relu = arith.maximumf %sum, %zero : f32\n    linalg.yield %relu : f32"
            if relu
            else "linalg.yield %sum : f32"
        )
        return f"""
  %{name}0 = tensor.empty() : {out}
  %{name}1 = linalg.fill ins(%zero : f32) outs(%{name}0 : {out}) -> {out}
  %{name}2 = linalg.matmul ins({source}, {weights} : {source_type}, {weights_type}) outs(%{name}1 : {out}) -> {out}
  %{name} = linalg.generic {{indexing_maps = [{same}, {last}, {same}], iterator_types = ["parallel", "parallel"]}}
      ins(%{name}2, {bias} : {out}, {bias_type}) outs(%{name}0 : {out}) {{
  ^bb0(%value: f32, %bias: f32, %old: f32):
    %sum = arith.addf %value, %bias : f32
    {maximum}
  }} -> {out}"""

    return f"""
func.func @main(%x: {x}, %w: {w}, %b: {b}, %v: {v}, %d: {d}) -> {y} {{
  %zero = arith.constant 0.0 : f32{layer("hidden", "%x", "%w", "%b", (x, w, b, h), True)}{layer("out", "%hidden", "%v", "%d", (h, v, d, y), False)}
  %soft = linalg.softmax dimension(1) ins(%out : {y}) outs(%out0 : {y}) -> {y}
  return %soft : {y}
}}
"""


class Client:
    def __init__(self, library, work, gpu):
        self.library, self.work, self.gpu = library, work, gpu
        self.bin = Path(sys.executable).parent

    def run(self, name, text, inputs):
        """Compiles a module, runs it and gives its result."""
        directory = self.work / self.gpu / name
        directory.mkdir(parents=True, exist_ok=True)
        source, module, output = directory / "main.mlir", directory / "main.vmfb", directory / "out.npy"
        if not module.exists() or not source.exists() or source.read_text() != text:
            source.write_text(text)
            self.call("iree-compile", source, "-o", module, "--iree-hal-target-device=hip",
                      f"--iree-rocm-target={self.gpu}")
        arguments = []
        for index, value in enumerate(inputs):
            path = directory / f"in{index}.npy"
            np.save(path, value)
            arguments.append(f"--input=@{path}")
        output.unlink(missing_ok=True)
        self.call("iree-run-module", "--device=hip", f"--module={module}", "--function=main", *arguments,
                  f"--output=@{output}")
        return np.load(output)

    def call(self, program, *arguments):
        environment = os.environ | {"LD_LIBRARY_PATH": str(self.library)}
        command = [str(self.bin / program), *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{program} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-500:]}")


def check_product(client, kind, m, n, k, random):
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in [(m, k), (k, n)])
    result = client.run(f"{kind}_{m}x{n}x{k}", product(kind, m, n, k), [a, b])
    a, b = (value.astype(TYPES[kind]).astype(np.float64) for value in [a, b])
    bound = k * UNIT * (np.abs(a) @ np.abs(b)) + np.finfo(np.float32).tiny
    error = (np.abs(result - a @ b) / bound).max()
    return error, 1.0


def check_model(client, random):
    batch, inputs, hidden, outputs = 5, 37, 64, 10
    shapes = [(batch, inputs), (inputs, hidden), (hidden,), (hidden, outputs), (outputs,)]
    x, w, b, v, d = (random.standard_normal(shape).astype(np.float32) / 4 for shape in shapes)
    result = client.run("model", model(batch, inputs, hidden, outputs), [x, w, b, v, d])
    x, w, b, v, d = (value.astype(np.float64) for value in [x, w, b, v, d])
    y = np.maximum(x @ w + b, 0) @ v + d
    expected = np.exp(y - y.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    # The device's exponential is accurate to a few units in the last place.
    return np.abs(result / expected - 1).max(), 1e-4


def main():
    gpu, library, work = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    client = Client(library, work, gpu)
    random = np.random.default_rng(1)
    checks = [
        (f"{kind} {m}x{n}x{k}", lambda kind=kind, m=m, n=n, k=k: check_product(client, kind, m, n, k, random))
        for kind in TYPES
        for m, n, k in SIZES
    ]
    checks.append(("model", lambda: check_model(client, random)))
    for name, check in checks:
        try:
            error, limit = check()
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as complaint:
            print(f"failed {name}:", str(complaint).replace("\n", " "), flush=True)
            continue
        # Comparisons with NaN are false, so that a NaN fails.
        good = error <= limit
        print(f"passed {name}" if good else f"failed {name}: error {error:.3g}, allowed {limit:g}", flush=True)


if __name__ == "__main__":
    main()
