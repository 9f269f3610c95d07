// Runs the emulator's module beside the page. The page sends the module first, then requests; each answer has the request's number.
'use strict';

const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;
const CHARACTER_DEVICE = 2;

// The functions of the system that the module calls (WASI preview 1). There are no files, arguments and variables; what is
// printed goes to `print`.
function system(memory, print) {
  const view = () => new DataView(memory().buffer);
  const functions = {
    clock_time_get(clock, precision, time) {
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(time, BigInt(Math.round(milliseconds * 1e6)), true);
      return 0;
    },
    environ_get: () => 0,
    environ_sizes_get(count, bytes) {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return 0;
    },
    fd_close: () => 0,
    fd_fdstat_get(descriptor, stat) {
      if (descriptor > 2) return BAD_DESCRIPTOR;
      new Uint8Array(memory().buffer, stat, 24).fill(0);
      view().setUint8(stat, CHARACTER_DEVICE);
      return 0;
    },
    fd_prestat_get: () => BAD_DESCRIPTOR,
    fd_write(descriptor, parts, count, written) {
      let all = 0;
      for (let part = 0; part < count; part += 1) {
        const start = view().getUint32(parts + 8 * part, true);
        const bytes = view().getUint32(parts + 8 * part + 4, true);
        print(new Uint8Array(memory().buffer, start, bytes));
        all += bytes;
      }
      view().setUint32(written, all, true);
      return 0;
    },
    proc_exit(code) {
      throw new Error(`the module ended with ${code}`);
    },
    random_get(start, bytes) {
      // A call gives 65,536 bytes at most.
      for (let at = 0; at < bytes; at += 65536) {
        crypto.getRandomValues(new Uint8Array(memory().buffer, start + at, Math.min(65536, bytes - at)));
      }
      return 0;
    },
    sched_yield: () => 0,
  };
  return new Proxy(functions, { get: (all, name) => all[name] ?? (() => NOT_SUPPORTED) });
}

let emulator;
let printed = '';

async function start(bytes) {
  let memory;
  const decoder = new TextDecoder();
  const print = (part) => { printed += decoder.decode(part.slice(), { stream: true }); };
  const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: system(() => memory, print) });
  ({ memory } = instance.exports);
  instance.exports._initialize();
  return instance.exports;
}

// Writes bytes to the module's memory, which belongs to the call that they are for.
function give(bytes) {
  const start = emulator.ferrowave_allocate(bytes.length);
  if (start === 0) throw new Error(`the browser has no memory for ${bytes.length} bytes`);
  new Uint8Array(emulator.memory.buffer, start, bytes.length).set(bytes);
  return [start, bytes.length];
}

// Paths in the answer are relative to `root`.
function answer(request, data, root) {
  const text = give(new TextEncoder().encode(JSON.stringify(request)));
  const place = emulator.ferrowave_answer(...text, ...give(data));
  const [at, length, dataAt, dataLength] = new Uint32Array(emulator.memory.buffer, place, 4);
  const bytes = (start, count) => new Uint8Array(emulator.memory.buffer, start, count).slice();
  let answered = new TextDecoder().decode(bytes(at, length));
  // The emulator has taken its current folder away, which is `/`.
  if (root) answered = answered.replaceAll(`${root.slice(1)}/`, '');
  return { answer: JSON.parse(answered), data: bytes(dataAt, dataLength) };
}

async function receive(message) {
  if (message.module) {
    emulator = await start(message.module);
    return {};
  }
  printed = '';
  return answer(message.request, message.data ?? new Uint8Array(), message.root);
}

// One message after the other.
let turn = Promise.resolve();
self.onmessage = ({ data: message }) => {
  turn = turn.then(() => receive(message)).then(
    (result) => self.postMessage({ number: message.number, printed, ...result }),
    (error) => self.postMessage({ number: message.number, printed, trap: String(error) }),
  );
};
