// Drives one sandbox of Node's for peers.py, as guests.py does: node guests.cjs PEER JOB SECONDS,
// in a folder whose node_modules holds the peers.
"use strict";

const { createRequire } = require("node:module");
const readline = require("node:readline");

const peerRequire = createRequire(process.cwd() + "/");
const FIB = "(function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) })(27)";
const TEXT_BYTES = 65536;
const CALLS = 500;
const LARGE_CALLS = 20;
const IDLE = 8;
const sum = (size, count) =>
  `(() => { const t = "x".repeat(${size}); let s = 0; for (let i = 0; i < ${count}; i++) s += host(t); return s })()`;

const PEERS = {
  // One WebAssembly instance for all contexts of a process: newQuickJSWASMModule would give each its own.
  async "quickjs-emscripten"() {
    const QuickJS = await peerRequire("quickjs-emscripten").getQuickJS();
    const run = (context, source) => {
      const handle = context.unwrapResult(context.evalCode(source));
      const value = context.dump(handle);
      handle.dispose();
      return value;
    };
    return {
      fresh(source) {
        const context = QuickJS.newContext();
        try {
          return run(context, source);
        } finally {
          context.dispose();
        }
      },
      caller(count, size) {
        const context = QuickJS.newContext();
        const host = context.newFunction("host", (text) => context.newNumber(context.getString(text).length));
        context.setProp(context.global, "host", host);
        return () => run(context, sum(size, count));
      },
      idle: () => QuickJS.newContext(),
    };
  },

  async "isolated-vm"() {
    const ivm = peerRequire("isolated-vm");
    return {
      fresh(source) {
        const isolate = new ivm.Isolate({ memoryLimit: 64 });
        try {
          return isolate.createContextSync().evalSync(source);
        } finally {
          isolate.dispose();
        }
      },
      caller(count, size) {
        const context = new ivm.Isolate({ memoryLimit: 64 }).createContextSync();
        context.global.setSync("host", new ivm.Callback((text) => text.length));
        return () => context.evalSync(sum(size, count));
      },
      idle: () => new ivm.Isolate({ memoryLimit: 64 }).createContextSync(),
    };
  },
};

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const wait = async () => {
  process.stdout.write("ready\n");
  await lines.next();
};

function checked(action, wanted) {
  return () => {
    const found = action();
    if (found !== wanted) throw new Error(`the value is ${found}, not ${wanted}`);
  };
}

function repeated(operation, size, seconds) {
  const took = [];
  const end = performance.now() + seconds * 1e3;
  while (took.length === 0 || performance.now() < end) {
    const start = performance.now();
    operation();
    took.push((performance.now() - start) / 1e3 / size);
  }
  return { seconds: took };
}

async function main(name, job, seconds) {
  const peer = await PEERS[name]();
  let operation;
  let size = 1;
  let done;
  if (job === "idle") {
    const held = [peer.idle()];
    await wait();
    while (held.length < IDLE) held.push(peer.idle());
    done = { made: held.length - 1 };
  } else {
    if (job === "fresh") operation = checked(() => peer.fresh("1+1"), 2);
    else if (job === "fib") operation = checked(() => peer.fresh(FIB), 196418);
    else {
      const text = job === "calls" ? 1 : TEXT_BYTES;
      size = job === "calls" ? CALLS : LARGE_CALLS;
      operation = checked(peer.caller(size, text), size * text);
    }
    operation();
    await wait();
    done = repeated(operation, size, seconds);
  }
  process.stdout.write(JSON.stringify(done) + "\n");
  await lines.next();
  process.exit(0);
}

main(process.argv[2], process.argv[3], Number(process.argv[4]));
