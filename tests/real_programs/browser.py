"""Looks at the emulator's page: browser.py sample|full FILE SERVED AXE LOGS chromium|firefox COMMAND...

FILE and SERVED are the page's addresses as a file and on a server whose headers isolate it: launches run on one thread or several.
COMMAND runs the browser. Prints `passed NAME` and `failed NAME: why`. The screenshots are in the folder LOGS.
"""

import base64
import json
import pathlib
import sys

from browsers import BROWSERS

form, url, served, axe, logs, kind = sys.argv[1:7]
axe = pathlib.Path(axe).read_text()
logs = pathlib.Path(logs)

# What the scripts below share. The page's own names, such as `emulator` and `state`, are visible to them.
COMMON = r"""
const wait = async (what, done) => {
  for (let turn = 0; turn < 1200; turn += 1) {
    if (done()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited in vain for ${what}; the page says: ${byId('status').textContent} ${byId('error').textContent}`);
};
const ready = () => wait('the emulator', () => ladder !== undefined && byId('status').textContent !== 'The emulator is being loaded.');
const complaint = async () => {
  await wait('an error', () => !byId('error').hidden);
  return byId('error').textContent;
};
const results = async (start) => {
  byId('result').hidden = true;
  start();
  await wait('the result', () => !byId('result').hidden || !byId('error').hidden);
  if (!byId('error').hidden) throw new Error(byId('error').textContent);
  return byId('outcome').innerText;
};
const press = () => form.requestSubmit();
const expect = (condition, text) => { if (!condition) throw new Error(text); };
const give = (name, contents) => {
  const files = new DataTransfer();
  files.items.add(new File([contents], name));
  byId('files').files = files.files;
  byId('files').dispatchEvent(new Event('change'));
};
"""

AXE = r"""
const found = [];
// The frame of counters runs no scripts.
for (const frame of document.querySelectorAll('iframe')) {
  frame.sandbox = 'allow-same-origin allow-scripts';
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  frame.srcdoc += ' ';
  await loaded;
}
for (const [where, root] of [['', document], ...[...document.querySelectorAll('iframe')].map((frame) => ['frame: ', frame.contentDocument])]) {
  if (!root.defaultView.axe) root.defaultView.eval(AXE);
  const { violations } = await root.defaultView.axe.run(root, { resultTypes: ['violations'], iframes: false });
  found.push(...violations.map((v) => `${where}${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 120).replace(/\s+/g, ' ')}`));
}
expect(!found.length, found.join('; '));
const root = document.documentElement;
const wide = [...document.body.querySelectorAll('*')].filter((one) =>
  one.getBoundingClientRect().right > root.clientWidth + 1 && !one.closest('.wide, pre'));
expect(root.scrollWidth <= root.clientWidth, `wider than the window: ${wide.slice(0, 3).map((one) => one.outerHTML.slice(0, 80))}`);
"""

# The product of the first rows of A and B, against the buffers that the page saves.
PRODUCT = r"""
const floats = async (argument) => {
  const { bytes } = await emulator.ask({ buffer: { argument } });
  const header = 10 + bytes[8] + 256 * bytes[9];
  return new Float32Array(bytes.slice(header).buffer);
};
const [a, b, c] = [await floats(0), await floats(1), await floats(2)];
const size = 256;
expect(c.length === size * size, `${c.length} elements`);
for (let row = 0; row < size; row += 51) {
  for (let column = 0; column < size; column += 1) {
    let sum = 0;
    for (let k = 0; k < size; k += 1) sum += a[row * size + k] * b[k * size + column];
    expect(Math.abs(sum - c[row * size + column]) < 1e-3, `C[${row}, ${column}] is ${c[row * size + column]}, not ${sum}`);
  }
}
"""

RUN = r"""
await wait('the kernel', () => state.kernel === KERNEL && byId('listing').textContent.includes('s_endpgm'));
const text = await results(press);
expect(text.includes('No findings'), text.slice(0, 400));
expect(/modelled by Ferrowave, not measured/.test(text) && /bound by/.test(text), text.slice(0, 400));
"""

# What a visitor does, by name; each begins on a new page.
VISITS = {
    "a file that is no code": r"""
        await ready();
        give('notes', 'no code at all');
        const error = await complaint();
        expect(error.startsWith('neither a code object nor an offload bundle: it starts with [6e, 6f, 20, 63]'), error);
    """,
    "a damaged code object": r"""
        await ready();
        const bytes = (await unpacked(ladder.devices[0].file)).slice(0, 5000);
        give('half.co', bytes);
        const error = await complaint();
        expect(/ELF|section|ends|file/.test(error), error);
        expect(byId('file').hidden, 'it is shown');
        await openLadder(ladder.devices[0], 'gemm_naive_f32');
        give('half.co', bytes);
        await complaint();
        expect((await results(press)).includes('No findings'), 'the file that was open is lost');
    """,
    "arguments that do not fit": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_naive_f32');
        numbered('argument')[0].value = 'f32=1';
        press();
        const error = await complaint();
        expect(error.includes('argument 0 of `gemm_naive_f32` is a buffer, but a value is given'), error);
    """,
    "a fault": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_naive_f32');
        numbered('argument')[0].value = 'random:16x16xf32';
        const text = await results(press);
        expect(/did not end/.test(text) && /global_load/.test(text) && /s01_naive.rs/.test(text), text.slice(0, 600));
    """,
    "more than 2 GiB": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_lds_tiled_f32');
        // The page has each buffer twice.
        for (const at of [0, 1]) numbered('argument')[at].value = 'uninit:600x1024x256xf32';
        form.checks.checked = false;
        form.machine.value = '';
        const text = await results(press);
        expect(text.includes('Argument 1, 600x1024x256xf32'), text.slice(0, 400));
    """,
    "stopping": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_naive_f32');
        form.seeds.value = 64;
        press();
        await wait('the run', () => !byId('stop').disabled);
        byId('stop').click();
        expect((await complaint()) === 'stopped', byId('error').textContent);
        form.seeds.value = 0;
        await results(press);
    """,
    "a link to a kernel that is not there": r"""
        await ready();
        location.hash = '#MI300X/gemm_none';
        const error = await complaint();
        expect(error === 'the ladder for MI300X has no kernel gemm_none', error);
    """,
    "a filter by keyboard": r"""
        await ready();
        await openLadder(ladder.devices[0]);
        byId('filter').value = 'stream f32';
        byId('filter').dispatchEvent(new Event('input'));
        expect([...byId('kernels').options].map((one) => one.value).join() === 'gemm_stream_k_f32', byId('kernels').innerHTML);
        byId('filter').dispatchEvent(new Event('change'));
        await wait('the kernel', () => byId('kernel-title').textContent === 'gemm_stream_k_f32');
    """,
    "the occupancy of a larger launch": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_naive_f32');
        form.lds_bytes.value = 65536;
        form.lds_bytes.dispatchEvent(new Event('change'));
        await wait('the occupancy', () => /LDS/.test(byId('resources').querySelector('tbody').textContent));
    """,
    "source lines of dropped files": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_naive_f32');
        expect(byId('listing').textContent.includes('let '), 'no line of the ladder');
        give('s01_naive.rs', 'dropped\n'.repeat(500));
        await wait('the line', () => byId('listing').textContent.includes('dropped'));
    """,
}

# The cores that the browser tells the served page: more threads than most machines of CI have cores.
CORES = 3

# Launches, and all that the page is told of them, for both ways to be compared.
SAME = r"""
await ready();
const told = [];
let ran;
const send = emulator.send.bind(emulator);
emulator.send = async (...message) => {
  const { number, threads, data, ...rest } = await send(...message);
  ran = rest.answer.ok?.buffers ? rest.answer.ok : ran;
  told.push(JSON.stringify(rest), data && btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join('')));
  return { threads, data, ...rest };
};
for (const kernel of ['gemm_lds_tiled_f32', 'gemm_register_tiled_f32', 'gemm_stream_k_f32']) {
  await openLadder(ladder.devices[0], kernel);
  const text = await results(press);
  expect(text.includes('No findings'), text.slice(0, 400));
  expect(text.includes(`with ${THREADS}.`), text.slice(0, 200));
  for (const { argument } of ran.buffers) await emulator.ask({ buffer: { argument } });
}
return told;
"""

# What happens if a worker for threads fails. The worker's script is changed, and started again.
FAILURES = {
    "a trap in a thread": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_naive_f32');
        const script = byId('worker').textContent;
        // Threads yield when they look for work. Only the main worker has an emulator to ask.
        const changed = script.replace('sched_yield: () => 0', `sched_yield() {
          if (emulator) return 0;
          print(new TextEncoder().encode('the last words'));
          throw new WebAssembly.RuntimeError('a trap of this test');
        }`);
        expect(changed !== script, 'the script is not changed');
        byId('worker').textContent = changed;
        await emulator.restart();
        press();
        const error = await complaint();
        expect(/the emulator failed.*a trap of this test.*the last words/s.test(error), error);
        byId('worker').textContent = script;
        await emulator.restart();
        expect((await results(press)).includes(`with ${THREADS}.`), byId('outcome').innerText);
    """,
    "no memory in a thread": r"""
        await ready();
        await openLadder(ladder.devices[0], 'gemm_register_tiled_f32');
        const { limits } = emulator;
        const failed = [];
        const fail = emulator.fail.bind(emulator);
        emulator.fail = (message) => {
          failed.push(emulator.waiting.has(message.number) ? 'main' : 'thread');
          fail(message);
        };
        // More memory until the launch ends.
        let text;
        for (let pages = 600; !text; pages += 50) {
          expect(pages < 3000, `no result with ${pages} pages`);
          emulator.limits = { ...limits, maximum: limits.initial + pages };
          await emulator.restart();
          text = await results(press).catch(({ message }) => expect(/memory allocation of \d+ bytes failed/.test(message), message));
        }
        expect(failed.includes('thread'), `failed: ${failed.join()}`);
        expect(text.includes(`with ${THREADS}.`), text.slice(0, 200));
    """,
}


def report(name, work):
    try:
        work()
        print(f"passed {name}", flush=True)
    except RuntimeError as error:
        print(f"failed {name}: {' '.join(str(error).split())[:600]}", flush=True)


def same(one, other):
    for number, (left, right) in enumerate(zip(one, other, strict=True)):
        if left != right:
            at = next(at for at, (a, b) in enumerate(zip(f"{left}\0", f"{right}\0")) if a != b)
            raise RuntimeError(f"part {number} differs: {left[max(0, at - 60) : at + 60]!r} on one thread, {right[max(0, at - 60) : at + 60]!r}")


with open(logs / f"{kind}.log", "w") as log:
    browser = BROWSERS[kind](sys.argv[7:], log)
    try:
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                where = f"at {width}, {scheme}"
                browser.look(f"{url}#MI300X/gemm_register_tiled_f32", width, 900, scheme)
                report(f"a product {where}", lambda: browser.run(COMMON + "const KERNEL = 'gemm_register_tiled_f32'; await ready();" + RUN + PRODUCT))
                browser.run(f"globalThis.AXE = {json.dumps(axe)};")
                report(f"axe and width {where}", lambda: browser.run(COMMON + AXE))
                (logs / f"{kind}-{width}-{scheme}.png").write_bytes(base64.b64decode(browser.screenshot()))
        browser.cores(CORES)
        told = {}
        for way, address, threads in (("", url, "1 thread"), (", served", served, f"{CORES} threads")):
            begin = COMMON + f"const THREADS = '{threads}';"
            for name, script in VISITS.items():
                browser.look(address, 1280, 900, "light")
                report(name + way, lambda: browser.run(begin + script))

            def tell():
                browser.look(address, 1280, 900, "light")
                told[way] = browser.run(begin + SAME)

            report(f"launches on {threads}", tell)
        if len(told) == 2:
            report("the same on one thread as on several", lambda: same(*told.values()))
        for name, script in FAILURES.items():
            browser.look(served, 1280, 900, "light")
            report(name, lambda: browser.run(begin + script))
        browser.look(url, 1280, 900, "light")
        launches = browser.run(
            COMMON + "await ready(); return ladder.devices.flatMap((one, at) => one.launches.map((launch) => [one.machine, at, launch.kernel]));"
        )
        for machine, number, kernel in launches:
            # A sample has the kernels for f32.
            if form == "full" or kernel.endswith("_f32"):
                begin = COMMON + f"const KERNEL = '{kernel}'; await ready(); await openLadder(ladder.devices[{number}], KERNEL);"
                report(f"{kernel} on {machine}", lambda: browser.run(begin + RUN))
    finally:
        browser.close()
