// `structuredClone`, as the HTML standard has it for what this language holds.
(function (kit) {
  "use strict";

  const { holds } = kit;
  const { defineProperty } = Object;
  const ERRORS = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const Exception = DOMException;

  const refuse = (what) => {
    throw new Exception(`${what} could not be cloned.`, "DataCloneError");
  };

  // `known` has what was made of each object so far, so that two ways to one end at one.
  function clone(value, known) {
    if (typeof value === "symbol") refuse(String(value));
    if (typeof value === "function") refuse(value.name ? `The function ${value.name}` : "A function");
    if (typeof value !== "object" || value === null) return value;
    if (known.has(value)) return known.get(value);
    if (kit.isProxy(value)) refuse("A Proxy");
    const note = (made) => {
      known.set(value, made);
      return made;
    };
    if (Array.isArray(value)) return copyInto(note(new Array(value.length)), value, known);
    for (const kind in kit.boxes) {
      if (!holds(kit.boxes[kind], value)) continue;
      return kind === "Symbol" ? refuse("A Symbol object") : note(Object(kit.boxes[kind](value)));
    }
    if (holds(kit.dateTime, value)) return note(new Date(kit.dateTime(value)));
    if (kit.regExpText(value) !== undefined) return note(new RegExp(value.source, value.flags));
    if (holds(kit.mapSize, value)) {
      const made = note(new Map());
      for (const [key, item] of [...value]) made.set(clone(key, known), clone(item, known));
      return made;
    }
    if (holds(kit.setSize, value)) {
      const made = note(new Set());
      for (const item of [...value]) made.add(clone(item, known));
      return made;
    }
    if (value instanceof ArrayBuffer) return note(copyBuffer(value));
    if (value instanceof SharedArrayBuffer) return value;
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, known);
      const tag = kit.typedArrayTag(value);
      return note(tag === undefined ? new DataView(buffer, value.byteOffset, value.byteLength)
        : new globalThis[tag](buffer, value.byteOffset, value.length));
    }
    if (value instanceof Exception) return note(new Exception(value.message, value.name));
    if (kit.isError(value)) return copyError(value, note, known);
    if (kit.isPromise(value)) refuse("A Promise");
    if (kit.isWeak(value) || value instanceof WeakRef) refuse(value.constructor.name);
    if (typeof value.next === "function" && !Object.hasOwn(value, "next")) refuse("An iterator");
    return copyInto(note({}), value, known);
  }

  function copyInto(made, value, known) {
    for (const key of Object.keys(value)) {
      const copy = clone(value[key], known);
      defineProperty(made, key, { value: copy, writable: true, enumerable: true, configurable: true });
    }
    return made;
  }

  function copyBuffer(buffer) {
    if (buffer.detached) refuse("A detached ArrayBuffer");
    if (!buffer.resizable) return buffer.slice(0);
    const made = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
    new Uint8Array(made).set(new Uint8Array(buffer));
    return made;
  }

  function copyError(error, note, known) {
    const message = Object.getOwnPropertyDescriptor(error, "message");
    const made = note(new (ERRORS[error.name] ?? Error)());
    if (message !== undefined && "value" in message) {
      defineProperty(made, "message", { value: `${message.value}`, writable: true, configurable: true });
    }
    if (Object.hasOwn(error, "cause")) {
      defineProperty(made, "cause", { value: clone(error.cause, known), writable: true, configurable: true });
    }
    return made;
  }

  function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError("structuredClone takes a value");
    const buffers = [...(options?.transfer ?? [])];
    for (const buffer of buffers) {
      if (!(buffer instanceof ArrayBuffer) || buffer.detached) refuse("What is to be transferred");
    }
    if (new Set(buffers).size < buffers.length) refuse("A buffer that is transferred twice");
    const made = clone(value, new Map());
    for (const buffer of buffers) buffer.transfer(); // the copy stands for it: it is taken from the sender
    return made;
  }

  return { __proto__: null, structuredClone };
})
