// The page: asks the emulator, which runs in a worker, and shows its answers.
'use strict';

const byId = (name) => document.getElementById(name);

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// The emulator ------------------------------------------------------------------------------------------------------

// The bytes in a data block: compressed by gzip, as base64.
async function unpacked(block) {
  const text = atob(byId(block).textContent.trim());
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The most threads that run a launch.
const MOST_THREADS = 16;

// The number of workers for threads. Only a page that is isolated from others, by headers, may share memory with workers.
function threadCount() {
  const cores = self.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, MOST_THREADS) : 1;
  return cores > 1 ? cores : 0;
}

// The memory that a module imports as `env.memory`: where its flags are, and its least and most pages.
function memoryImport(module) {
  const mark = [3, ...new TextEncoder().encode('env'), 6, ...new TextEncoder().encode('memory'), 2];
  const start = module.findIndex((_, at) => mark.every((byte, offset) => module[at + offset] === byte));
  const flags = start + mark.length;
  let at = flags + 1;
  // A number of seven bits per byte, the lowest first; the highest bit says that more follow.
  const number = () => {
    let value = 0;
    for (let bits = 0; ; bits += 7) {
      const byte = module[at];
      at += 1;
      value += (byte & 0x7f) * 2 ** bits;
      if (byte < 0x80) return value;
    }
  };
  return { flags, initial: number(), maximum: number() };
}

// Memory that workers share, of as many pages as the browser reserves for it.
function sharedMemory({ initial, maximum }) {
  for (;;) {
    try {
      return new WebAssembly.Memory({ initial, maximum, shared: true });
    } catch (error) {
      if (maximum === initial) throw error;
      maximum = Math.max(initial, maximum >> 1);
    }
  }
}

const emulator = {
  // The main worker, then those for threads.
  workers: [],
  // What takes the answers to requests, by number, in order.
  waiting: new Map(),
  number: 0,
  // What was printed, by turn; how many turns were taken; and the answers that wait for others.
  printed: new Map(),
  taken: 0,
  answers: [],

  async start() {
    const count = threadCount();
    this.module ??= await this.compile(count > 0);
    const url = URL.createObjectURL(new Blob([byId('worker').textContent], { type: 'text/javascript' }));
    this.workers = Array.from({ length: 1 + count }, () => {
      const worker = new Worker(url);
      worker.onmessage = ({ data }) => this.receive(data);
      return worker;
    });
    const words = 4 * (1 + count);
    const start = {
      module: this.module,
      memory: count ? sharedMemory(this.limits) : this.limits,
      control: new Int32Array(count ? new SharedArrayBuffer(words) : new ArrayBuffer(words)),
    };
    const begin = (worker, place) => this.send({ start: { ...start, place } }, worker);
    // The first that has the module fills the memory, with the main thread's part of it.
    const [main, ...threads] = this.workers;
    const begun = [await begin(main, 0), ...await Promise.all(threads.map((worker, at) => begin(worker, 1 + at)))];
    const trap = begun.find((one) => one.trap)?.trap;
    if (trap) throw new Error(`this browser cannot run the emulator: ${trap}`);
  },

  // One module for both ways: the flags of its memory say whether that has a maximum (1) and is shared (2).
  async compile(shared) {
    const bytes = await unpacked('module');
    const { flags, ...limits } = memoryImport(bytes);
    bytes[flags] = shared ? 3 : 1;
    this.limits = limits;
    return WebAssembly.compile(bytes);
  },

  send(message, worker = this.workers[0]) {
    this.number += 1;
    const number = this.number;
    return new Promise((resolve) => {
      this.waiting.set(number, resolve);
      worker.postMessage({ number, ...message });
    });
  },

  resolve(number, result) {
    this.waiting.get(number)(result);
    this.waiting.delete(number);
  },

  receive(data) {
    if (data.trap !== undefined) {
      this.fail(data);
      return;
    }
    if (data.turn !== undefined) this.printed.set(data.turn, data.bytes);
    else this.answers.push(data);
    while (this.answers.length && this.answer()) this.answers.shift();
  },

  // Passes on the oldest answer if all that was printed before has come: each thread sends its own.
  answer() {
    const [{ number, prints, ...answer }] = this.answers;
    const turns = this.turns(prints);
    if (this.taken + turns.length < prints) return false;
    this.taken = prints;
    this.resolve(number, { printed: this.take(turns), ...answer });
    return true;
  },

  // The turns before this one that have come, in order.
  turns(end) {
    return [...this.printed.keys()].filter((turn) => turn < end).sort((one, other) => one - other);
  },

  // What was printed in these turns. A character may have been printed in several.
  take(turns) {
    const decoder = new TextDecoder();
    const texts = turns.map((turn) => decoder.decode(this.printed.get(turn), { stream: true }));
    for (const turn of turns) this.printed.delete(turn);
    return texts.join('');
  },

  // A worker has failed. A thread works for the oldest request.
  fail({ number, trap }) {
    const printed = this.take(this.turns(Infinity));
    const [oldest] = this.waiting.keys();
    if (oldest === undefined) attempt(() => this.restart());
    else this.resolve(this.waiting.has(number) ? number : oldest, { trap, printed });
  },

  // Ends what the workers do. What they knew is lost.
  async restart() {
    for (const worker of this.workers) {
      worker.onmessage = null;
      worker.terminate();
    }
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.printed.clear();
    Object.assign(this, { taken: 0, answers: [] });
    await this.start();
    if (state.bytes) await this.send({ request: { open: {} }, data: state.bytes });
    for (const resolve of waiting) resolve({ stopped: true });
  },

  // The answer to a request, what was printed meanwhile, and on how many threads launches run.
  async ask(request, data) {
    const { answer, data: bytes, printed, threads, trap, stopped } = await this.send({ request, data, root: state.presets.size ? ladder.root : '' });
    if (stopped) throw new Error('stopped');
    if (trap) {
      await this.restart();
      throw new Error(`the emulator failed, which is a bug of ours: ${trap}\n${printed}`);
    }
    if (answer.error !== undefined) throw new Error(answer.error);
    return { ok: answer.ok, bytes, printed, threads: Math.max(1, threads) };
  },
};

// What is open -----------------------------------------------------------------------------------------------------

const state = {
  name: '',
  bytes: null,
  objects: [],
  kernel: '',
  described: [],
  // A ladder's launches, by kernel.
  presets: new Map(),
  // Other files that were dropped, by name.
  files: new Map(),
};

function say(text) {
  byId('status').textContent = text;
}

function complain(error) {
  byId('error').textContent = error ? error.message : '';
  byId('error').hidden = !error;
  if (error) say('');
}

// Runs something that may fail, and shows the error.
async function attempt(work) {
  complain(null);
  try {
    await work();
  } catch (error) {
    complain(error);
  }
}

// Files that begin so hold machine code: ELF, bundles.
const CODE = [[0x7f, 0x45, 0x4c, 0x46], [...'__CLANG_OFFLOAD_BUNDLE__'].map((c) => c.charCodeAt(0)), [...'CCOB'].map((c) => c.charCodeAt(0))];
const isCode = (bytes) => CODE.some((magic) => magic.every((byte, at) => bytes[at] === byte));
// Source files and arrays are not opened as code, so that their error is not about code.
const isOther = (name) => /\.(rs|c|cc|cpp|cxx|cu|h|hip|hpp|cl|py|s|npy|bin|txt)$/i.test(name);

async function take(files) {
  const code = [];
  for (const file of files) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (isCode(bytes) || !isOther(file.name)) code.push([file.name, bytes]);
    else state.files.set(file.name, bytes);
  }
  showAttached();
  fillSources(byId('listing'));
  if (code.length > 1) throw new Error(`${code.length} files with code: ${code.map(([name]) => name).join(', ')}; open one at a time`);
  if (code.length === 1) await open(...code[0]);
}

// Opens a file. If it cannot be read, the one that is open stays.
async function open(name, bytes, presets = new Map(), kernel = undefined) {
  say(`Opening ${name}.`);
  const { ok } = await emulator.ask({ open: {} }, bytes);
  Object.assign(state, { name, bytes, objects: ok.objects, kernel: '', presets });
  byId('file-title').textContent = name;
  byId('objects').replaceChildren(...ok.objects.map((object) => {
    const kernels = object.kernels.length === 1 ? '1 kernel' : `${object.kernels.length} kernels`;
    const text = object.error ?? `${object.target}: ${kernels}${object.gpus.length ? '' : '; the emulator has no such GPU'}`;
    return element('li', object.error ? { className: 'bad' } : {}, text, object.entry ? element('span', { className: 'note' }, ` (${object.entry})`) : '');
  }));
  byId('file').hidden = false;
  for (const section of ['kernel', 'result', 'code']) byId(section).hidden = true;
  byId('filter').value = '';
  listKernels();
  say('');
  const first = kernel ?? byId('kernels').value;
  if (first) await choose(first);
}

function names() {
  const all = new Set(state.objects.flatMap((object) => object.kernels));
  return state.presets.size ? [...state.presets.keys()].filter((name) => all.has(name)) : [...all];
}

function listKernels() {
  const words = byId('filter').value.toLowerCase().split(/\s+/);
  const shown = names().filter((name) => words.every((word) => name.toLowerCase().includes(word)));
  byId('kernels').replaceChildren(...shown.map((name) => element('option', { value: name, selected: name === state.kernel }, name)));
}

// Shows a kernel, and its code in the first code object that has it.
async function choose(kernel) {
  say(`Reading ${kernel}.`);
  const { ok } = await emulator.ask({ kernel: { kernel } });
  Object.assign(state, { kernel, described: ok });
  byId('kernels').value = kernel;
  byId('kernel-title').textContent = kernel;
  fillForm();
  byId('result').hidden = true;
  byId('kernel').hidden = false;
  byId('code').hidden = false;
  await showOccupancy();
  await showCode();
  say('');
}

// The occupancy of the launch that the form describes.
async function showOccupancy() {
  const extents = form.block.value.split(',').map(Number);
  const size = extents.reduce((product, extent) => product * extent, 1);
  const { ok } = await emulator.ask({ kernel: { kernel: state.kernel, workgroup_size: size, lds_bytes: Number(form.lds_bytes.value) } });
  byId('resources').replaceChildren(resources(ok));
}

async function showCode() {
  const [object] = form.gpu.value.split(' ');
  const { ok } = await emulator.ask({ listing: { kernel: state.kernel, object: Number(object) } });
  byId('listing').replaceChildren(listing(ok));
  fillSources(byId('listing'));
}

function table(titles, rows) {
  const head = titles.map((title) => element('th', { scope: 'col', className: title.endsWith(':') ? 'number' : '' }, title.replace(/:$/, '')));
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell, at) =>
    element(at ? 'td' : 'th', at ? { className: titles[at].endsWith(':') ? 'number' : '' } : { scope: 'row' }, String(cell)))));
  return element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...body));
}

function resources(described) {
  const titles = ['GPU', 'VGPRs:', 'AGPRs:', 'SGPRs:', 'LDS [B]:', 'scratch [B]:', 'spills:', 'code [B]:', 'workgroup:', 'waves/SIMD:', 'workgroups/CU:', 'limited by'];
  return table(titles, described.map((one) => [
    one.gpu, one.vgprs, one.agprs, one.sgprs, one.lds_bytes + Number(form.lds_bytes.value), one.scratch_bytes, (one.vgpr_spills ?? 0) + (one.sgpr_spills ?? 0),
    one.code_bytes, one.workgroup_size, one.waves_per_simd, one.workgroups_per_compute_unit, one.limited_by.join(', '),
  ]));
}

// The form ----------------------------------------------------------------------------------------------------------

const form = byId('launch');

function fillForm() {
  const preset = state.presets.get(state.kernel);
  const first = state.described[0];
  const gpus = state.described.flatMap((one) => state.objects[one.object].gpus.map((gpu) => [one.object, gpu.gpu]));
  // Of a GPU that the emulator does not have, the code can be read.
  const shown = gpus.length ? gpus : state.described.map((one) => [one.object, one.gpu]);
  form.gpu.replaceChildren(...shown.map(([object, gpu]) => element('option', { value: `${object} ${gpu}` }, gpu)));
  fillMachines();
  form.grid.value = preset ? preset.grid.join() : '1';
  form.block.value = preset ? preset.block.join() : String(first.max_workgroup_size);
  form.lds_bytes.value = preset?.lds_bytes ?? 0;
  byId('arguments').replaceChildren(...first.arguments.map((argument, at) => {
    const type = argument.type ?? `${argument.kind} of ${argument.size_bytes} bytes`;
    const known = argument.name ?? preset?.names[at];
    const name = known ? `${known}: ${type}` : type;
    const value = preset?.arguments[at] ?? first.suggested[at];
    return element('label', {}, element('span', { className: 'code' }, `${at} ${name}`), element('input', { name: 'argument', value, spellcheck: false, autocomplete: 'off' }));
  }));
  if (!first.arguments.length) byId('arguments').replaceChildren(element('p', { className: 'note' }, 'It takes none.'));
}

function fillMachines() {
  const [object, name] = form.gpu.value.split(' ');
  const gpu = state.objects[object]?.gpus.find((one) => one.gpu === name);
  const machines = gpu?.machines ?? [];
  form.machine.replaceChildren(
    ...machines.map((machine) => element('option', { value: machine }, machine)),
    element('option', { value: '' }, machines.length ? 'no machine' : 'no machine: there is no model of one'),
  );
}

const numbered = (text) => [...form.elements].filter((input) => input.name === text);

async function run() {
  const [object, gpu] = form.gpu.value.split(' ');
  const given = numbered('argument').map((input) => input.value);
  const preset = state.presets.get(state.kernel);
  const files = [];
  for (const text of given) {
    const name = /^\s*(?:value|file):(.*?)\s*$/.exec(text)?.[1];
    const bytes = name === 'parameters' && preset ? Uint8Array.from(preset.parameters) : state.files.get(name);
    if (bytes && !files.some(([known]) => known === name)) files.push([name, bytes]);
  }
  const launch = {
    object: Number(object),
    kernel: state.kernel,
    gpu,
    grid: form.grid.value,
    block: form.block.value,
    lds_bytes: Number(form.lds_bytes.value),
    arguments: given,
    seed: Number(form.seed.value),
    checks: form.checks.checked ? 'all' : '',
    seeds: Number(form.seeds.value),
    machine: form.machine.value || null,
    limit: form.limit.value ? Number(form.limit.value) : null,
  };
  const data = new Uint8Array(files.reduce((sum, [, bytes]) => sum + bytes.length, 0));
  let at = 0;
  for (const [, bytes] of files) {
    data.set(bytes, at);
    at += bytes.length;
  }
  const started = performance.now();
  const { ok, printed, threads } = await emulator.ask({ launch: { launch, files: files.map(([name, bytes]) => [name, bytes.length]) } }, data);
  showResult(ok, printed, performance.now() - started, threads);
}

async function submit() {
  const [button, stop] = [form.querySelector('[type=submit]'), byId('stop')];
  button.disabled = true;
  stop.disabled = false;
  say(`Running ${state.kernel}.`);
  await attempt(async () => {
    await run();
    say('');
  });
  button.disabled = false;
  stop.disabled = true;
}

// Results -----------------------------------------------------------------------------------------------------------

function showResult(ran, printed, milliseconds, threads) {
  const parts = [];
  const what = `${ran.workgroups} workgroups, ${ran.waves} waves, ${ran.wave_instructions.toLocaleString('en')} wave-instructions`;
  if (ran.error) parts.push(element('p', { className: 'bad' }, 'The launch did not end:'), element('pre', {}, ran.error));
  else parts.push(element('p', {}, `${what}, in ${Math.round(milliseconds)} ms on this computer with ${threads} ${threads === 1 ? 'thread' : 'threads'}.`));
  if (ran.report) {
    const verdict = ran.findings ? `${ran.findings} ${ran.findings === 1 ? 'finding' : 'findings'}` : 'No findings';
    parts.push(element('h3', {}, 'Checks'), element('p', { className: ran.findings ? 'bad' : 'good' }, verdict), element('pre', {}, ran.report.trimEnd()));
  }
  if (ran.timing) {
    parts.push(element('h3', {}, 'Time, modelled, not measured on a GPU'));
    parts.push(element('pre', { className: 'table', tabIndex: 0, role: 'region', 'aria-label': 'Modelled time' }, (ran.timing.Ok ?? `There is none: ${ran.timing.Err}`).trimEnd()));
  }
  if (printed) parts.push(element('h3', {}, 'Printed'), element('pre', {}, printed));
  if (ran.buffers.length) parts.push(element('h3', {}, 'Buffers afterwards'));
  for (const buffer of ran.buffers) {
    const save = element('button', { type: 'button', onclick: () => attempt(() => download(buffer.argument)) }, `Save argument ${buffer.argument}`);
    const rest = buffer.elements > buffer.first.length ? ' …' : '';
    parts.push(
      element('p', { className: 'row' }, `Argument ${buffer.argument}, ${buffer.kind}`, save),
      element('pre', { className: 'elements', tabIndex: 0, role: 'region', 'aria-label': `Elements of argument ${buffer.argument}` }, buffer.first.join(' ') + rest),
    );
  }
  const frame = element('iframe', { title: 'Counters and modelled waits per instruction', sandbox: 'allow-same-origin', srcdoc: ran.profile });
  frame.addEventListener('load', () => fillSources(frame.contentDocument));
  parts.push(element('h3', {}, 'Counters and waits per instruction'), frame);
  byId('outcome').replaceChildren(...parts);
  byId('result').hidden = false;
  byId('result-title').focus();
}

async function download(argument) {
  const { ok, bytes } = await emulator.ask({ buffer: { argument } });
  const url = URL.createObjectURL(new Blob([bytes]));
  element('a', { href: url, download: ok.name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// Code --------------------------------------------------------------------------------------------------------------

function listing(instructions) {
  const rows = [];
  let last;
  for (const { text, offset, source } of instructions) {
    const place = source[0] ? `${source[0].file}:${source[0].line}` : '';
    if (place && place !== last) {
      rows.push(element('tr', { className: 'source' }, element('td', { colSpan: 2 }, element('span', { className: 'place' }, place), ' ', element('code', {}))));
      last = place;
    }
    rows.push(element('tr', {}, element('td', { className: 'number offset' }, offset.toString(16)), element('td', { className: 'code' }, text.trim())));
  }
  const titles = element('tr', {}, element('th', { scope: 'col', className: 'number' }, 'offset'), element('th', { scope: 'col' }, 'instruction'));
  return element('table', {}, element('thead', {}, titles), element('tbody', {}, ...rows));
}

// Writes the text of source lines beside their places, where their files are known.
function fillSources(root) {
  const found = new Map();
  const lines = (path) => {
    if (!found.has(path)) {
      // A dropped file has only a name.
      const bytes = state.files.get(path.split('/').pop());
      const text = bytes ? new TextDecoder().decode(bytes) : state.presets.size ? ladder.sources[path] : undefined;
      found.set(path, text?.split('\n') ?? []);
    }
    return found.get(path);
  };
  for (const place of root.querySelectorAll('span.place')) {
    const [, path, line] = /^(.*):(\d+)$/.exec(place.textContent) ?? [];
    const text = path && lines(path)[line - 1]?.trim();
    const code = place.parentElement.querySelector('code') ?? place.parentElement.nextElementSibling;
    if (text && code) code.textContent = text;
  }
}

function showAttached() {
  const items = [...state.files.keys()].map((name) => element('li', {}, name));
  byId('attached').replaceChildren(...items);
  byId('attached').hidden = !items.length;
}

// The ladder ----------------------------------------------------------------------------------------------------------

// What examples/ladder.rs writes.
let ladder;

async function openLadder(example, kernel) {
  const presets = new Map(example.launches.map((launch) => [launch.kernel, launch]));
  const known = [kernel, example.launches[0].kernel].find((name) => presets.has(name));
  if (state.name === example.title) {
    await choose(known);
    return;
  }
  const bytes = await unpacked(example.file);
  await open(example.title, bytes, presets, known);
}

// A link to a kernel of the ladder has `#MACHINE/KERNEL`.
function followLink() {
  const [machine, kernel] = decodeURIComponent(location.hash.slice(1)).split('/');
  if (!machine) return;
  attempt(async () => {
    const example = ladder.devices.find((one) => one.machine === machine);
    if (!example) throw new Error(`there is no ladder for ${machine}; there are ${ladder.devices.map((one) => one.machine).join(', ')}`);
    await openLadder(example, kernel);
    if (kernel && state.kernel !== kernel) throw new Error(`the ladder for ${machine} has no kernel ${kernel}`);
  });
}

// Events --------------------------------------------------------------------------------------------------------------

attempt(async () => {
  await emulator.start();
  ladder = JSON.parse(new TextDecoder().decode(await unpacked('ladder')));
  byId('examples').append('Or begin with ', ...ladder.devices.flatMap((example, at) => [at ? ' ' : '', element('button', {
    type: 'button', onclick: () => attempt(() => openLadder(example)),
  }, example.title)]));
  say('The emulator is ready.');
  followLink();
});

addEventListener('hashchange', followLink);
byId('files').addEventListener('change', (event) => attempt(() => take(event.target.files)));
byId('filter').addEventListener('input', listKernels);
byId('filter').addEventListener('change', () => byId('kernels').value && byId('kernels').value !== state.kernel && attempt(() => choose(byId('kernels').value)));
byId('kernels').addEventListener('change', (event) => attempt(() => choose(event.target.value)));
form.gpu.addEventListener('change', () => {
  fillMachines();
  attempt(showCode);
});
for (const input of [form.block, form.lds_bytes]) input.addEventListener('change', () => attempt(showOccupancy));
form.addEventListener('submit', (event) => {
  event.preventDefault();
  submit();
});
byId('stop').addEventListener('click', () => attempt(() => emulator.restart()));
const drop = byId('drop');
for (const name of ['dragover', 'dragleave', 'drop']) {
  addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle('over', name === 'dragover');
  });
}
addEventListener('drop', (event) => attempt(() => take(event.dataTransfer.files)));
