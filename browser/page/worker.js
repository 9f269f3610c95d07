// Runs the emulator's module, or one of its threads, beside the page.
//
// The main worker gets the module first, then requests; each answer has the request's number. In a page that may share memory there are
// also workers for threads: each instantiates the module on the same memory and waits. When the module starts a thread, one of
// them runs it. A worker can start no other worker while it runs the module, so that the page starts all of them beforehand.
//
// `control` is an array of 32-bit integers that all workers share: how many times something was printed, then for each thread what
// `wasi_thread_start` takes, or 0 if the thread's worker is free.
'use strict';

const PRINTED = 0;
const FIRST_THREAD = 1;

const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;
const CHARACTER_DEVICE = 2;

// Integers of 32 bits come from the module as signed ones, addresses beyond 2 GiB too.
const unsigned = (value) => (typeof value === 'number' ? value >>> 0 : value);

// The functions of the system that the module calls (WASI preview 1). There are no files and arguments; what is
// printed goes to the page. Memory may be shared, which decoders and `crypto` do not take.
function system(variables) {
  const view = () => new DataView(contents());
  const strings = Object.entries(variables).map(([name, value]) => new TextEncoder().encode(`${name}=${value}\0`));
  const functions = {
    clock_time_get(clock, precision, time) {
      // `performance.now` begins with the worker, but threads compare their times.
      const milliseconds = clock === 0 ? Date.now() : performance.timeOrigin + performance.now();
      view().setBigUint64(time, BigInt(Math.round(milliseconds * 1e6)), true);
      return 0;
    },
    environ_get(places, at) {
      for (const [number, string] of strings.entries()) {
        view().setUint32(places + 4 * number, at, true);
        new Uint8Array(contents(), at, string.length).set(string);
        at += string.length;
      }
      return 0;
    },
    environ_sizes_get(count, bytes) {
      view().setUint32(count, strings.length, true);
      view().setUint32(bytes, strings.reduce((sum, string) => sum + string.length, 0), true);
      return 0;
    },
    fd_close: () => 0,
    fd_fdstat_get(descriptor, stat) {
      if (descriptor > 2) return BAD_DESCRIPTOR;
      new Uint8Array(contents(), stat, 24).fill(0);
      view().setUint8(stat, CHARACTER_DEVICE);
      return 0;
    },
    fd_prestat_get: () => BAD_DESCRIPTOR,
    fd_write(descriptor, parts, count, written) {
      let all = 0;
      for (let part = 0; part < count; part += 1) {
        const start = view().getUint32(parts + 8 * part, true);
        const bytes = view().getUint32(parts + 8 * part + 4, true);
        print(new Uint8Array(contents(), start, bytes).slice());
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
        const random = crypto.getRandomValues(new Uint8Array(Math.min(65536, bytes - at)));
        new Uint8Array(contents(), start + at, random.length).set(random);
      }
      return 0;
    },
    sched_yield: () => 0,
  };
  const called = (name) => (...values) => functions[name]?.(...values.map(unsigned)) ?? NOT_SUPPORTED;
  return new Proxy(functions, { get: (_, name) => called(name) });
}

let emulator;
let memory;
let control;

// The memory as it is now. V8 is late to tell a worker what others have added, unless the worker adds something itself.
function contents() {
  memory.grow(0);
  return memory.buffer;
}

// Sends bytes that are printed to the page, with their turn among those of all workers.
function print(bytes) {
  self.postMessage({ bytes, turn: Atomics.add(control, PRINTED, 1) });
}

// Gives a thread to a worker that is free. The answer is the thread's number, or an error below 0 if none is free.
function spawn(argument) {
  for (let place = FIRST_THREAD; place < control.length; place += 1) {
    if (Atomics.compareExchange(control, place, 0, argument) === 0) {
      Atomics.notify(control, place);
      return place;
    }
  }
  return -1;
}

// `start.memory` is the memory of all workers, or else how large this worker's own is.
async function instantiate(start) {
  ({ control } = start);
  memory = start.memory instanceof WebAssembly.Memory ? start.memory : new WebAssembly.Memory(start.memory);
  const threads = control.length - FIRST_THREAD;
  // Without the variable, rayon counts cores, which the module cannot.
  const variables = threads ? { RAYON_NUM_THREADS: threads } : {};
  return (await WebAssembly.instantiate(start.module, {
    env: { memory },
    wasi: { 'thread-spawn': spawn },
    wasi_snapshot_preview1: system(variables),
  })).exports;
}

// Runs threads, one after the other, until the page ends the worker.
function runThreads({ wasi_thread_start: run }, place) {
  for (;;) {
    Atomics.wait(control, place, 0);
    run(place, Atomics.load(control, place));
    Atomics.store(control, place, 0);
  }
}

// Writes bytes to the module's memory, which belongs to the call that they are for.
function give(bytes) {
  const start = unsigned(emulator.ferrowave_allocate(bytes.length));
  if (start === 0) throw new Error(`the browser has no memory for ${bytes.length} bytes`);
  new Uint8Array(contents(), start, bytes.length).set(bytes);
  return [start, bytes.length];
}

// Paths in the answer are relative to `root`.
function answer(request, data, root) {
  const text = give(new TextEncoder().encode(JSON.stringify(request)));
  const place = unsigned(emulator.ferrowave_answer(...text, ...give(data)));
  const [at, length, dataAt, dataLength] = new Uint32Array(contents(), place, 4);
  const bytes = (start, count) => new Uint8Array(contents(), start, count).slice();
  let answered = new TextDecoder().decode(bytes(at, length));
  // The emulator has taken its current folder away, which is `/`.
  if (root) answered = answered.replaceAll(`${root.slice(1)}/`, '');
  return { answer: JSON.parse(answered), data: bytes(dataAt, dataLength) };
}

// Answers a message, and tells how much was printed before and how many threads the module has started.
function reply({ number }, result) {
  const threads = control.subarray(FIRST_THREAD).filter((argument) => argument !== 0).length;
  self.postMessage({ number, prints: control[PRINTED], threads, ...result });
}

async function receive(message) {
  if (!message.start) return answer(message.request, message.data ?? new Uint8Array(), message.root);
  const exports = await instantiate(message.start);
  const { place } = message.start;
  if (place < FIRST_THREAD) {
    emulator = exports;
    emulator._initialize();
    emulator.ferrowave_start();
    return {};
  }
  reply(message, {});
  return runThreads(exports, place);
}

// One message after the other.
let turn = Promise.resolve();
self.onmessage = ({ data: message }) => {
  turn = turn.then(() => receive(message)).then(
    (result) => reply(message, result),
    (error) => self.postMessage({ number: message.number, trap: String(error) }),
  );
};
