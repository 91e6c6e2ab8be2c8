// Events and AbortController, as the DOM standard has them where there is no tree of nodes.
(function (kit) {
  "use strict";

  const { replace, uncaught, later } = kit;
  const now = performance.now.bind(performance);
  const Exception = DOMException;
  const missing = Symbol("missing");
  const members = (given) => (given === undefined || given === null ? {} : given);

  class Event {
    #type; #bubbles; #cancelable; #composed;
    #target = null; #phase = 0; #prevented = false; #stopped = false; #passive = false;
    #at = now();

    constructor(type, options) {
      if (arguments.length === 0) throw new TypeError("an Event needs a type");
      const { bubbles, cancelable, composed } = members(options);
      this.#type = `${type}`;
      this.#bubbles = !!bubbles;
      this.#cancelable = !!cancelable;
      this.#composed = !!composed;
    }

    get type() { return this.#type; }
    get target() { return this.#target; }
    get currentTarget() { return this.#phase === 0 ? null : this.#target; }
    get eventPhase() { return this.#phase; }
    get bubbles() { return this.#bubbles; }
    get cancelable() { return this.#cancelable; }
    get composed() { return this.#composed; }
    get defaultPrevented() { return this.#prevented; }
    get timeStamp() { return this.#at; }
    get isTrusted() { return false; }
    preventDefault() { if (this.#cancelable && !this.#passive) this.#prevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { this.#stopped = true; }
    composedPath() { return this.#phase === 0 ? [] : [this.#target]; }

    static dispatch(event, target, listeners) {
      if (event.#phase !== 0) throw new Exception("the event is being dispatched", "InvalidStateError");
      event.#target = target;
      event.#phase = 2;
      for (let i = 0; i < listeners.length && !event.#stopped; i += 1) {
        const listener = listeners[i];
        if (listener.removed || listener.type !== event.#type) continue;
        if (listener.once) listener.remove();
        event.#passive = listener.passive;
        try {
          if (typeof listener.callback === "function") listener.callback.call(target, event);
          else listener.callback.handleEvent(event);
        } catch (thrown) {
          uncaught(thrown);
        }
      }
      event.#passive = event.#stopped = false;
      event.#phase = 0;
      return !event.#prevented;
    }
  }
  const { dispatch } = Event;
  delete Event.dispatch;

  class EventTarget {
    #listeners = [];

    addEventListener(type, callback, options) {
      const { capture = false, once = false, passive = false, signal } =
        typeof options === "boolean" ? { capture: options } : members(options);
      if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError("signal is not an AbortSignal");
      if (callback === null || callback === undefined || (signal && signal.aborted)) return;
      if (typeof callback !== "function" && typeof callback !== "object") {
        throw new TypeError("a listener is a function or an object with handleEvent");
      }
      const name = `${type}`;
      if (this.#find(name, callback, !!capture) !== undefined) return;
      const remove = () => {
        listener.removed = true;
        this.#listeners = this.#listeners.filter((each) => each !== listener);
      };
      const listener = {
        type: name, callback, capture: !!capture, once: !!once, passive: !!passive, removed: false, remove,
      };
      this.#listeners.push(listener);
      if (signal) signal.addEventListener("abort", remove, { once: true });
    }

    removeEventListener(type, callback, options) {
      const capture = typeof options === "boolean" ? options : !!members(options).capture;
      this.#find(`${type}`, callback, capture)?.remove();
    }

    dispatchEvent(event) {
      return dispatch(event, this, [...this.#listeners]);
    }

    #find(type, callback, capture) {
      return this.#listeners.find(
        (each) => each.type === type && each.callback === callback && each.capture === capture,
      );
    }
  }

  let allowed = false; // only we make signals
  const signalOf = () => {
    allowed = true;
    try {
      return new AbortSignal();
    } finally {
      allowed = false;
    }
  };

  class AbortSignal extends EventTarget {
    #reason = missing;
    #roots = [this]; // whose end is this one's
    #dependents = [];
    #onabort = null;

    constructor() {
      if (!allowed) throw new TypeError("an AbortSignal is made by an AbortController");
      super();
    }

    get aborted() { return this.#reason !== missing; }
    get reason() { return this.#reason === missing ? undefined : this.#reason; }
    throwIfAborted() { if (this.aborted) throw this.#reason; }

    get onabort() { return this.#onabort; }
    set onabort(callback) {
      if (this.#onabort !== null) this.removeEventListener("abort", this.#onabort);
      this.#onabort = typeof callback === "function" ? callback : null;
      this.addEventListener("abort", this.#onabort);
    }

    static abort(reason) {
      const signal = signalOf();
      signal.#reason = reasonOf(reason);
      return signal;
    }

    static timeout(ms) {
      const delay = +ms;
      if (!(delay >= 0)) throw new TypeError("AbortSignal.timeout needs milliseconds");
      const signal = signalOf();
      later(() => signal.#abort(new Exception("The operation timed out.", "TimeoutError")), delay);
      return signal;
    }

    static any(signals) {
      const sources = [...signals];
      const signal = signalOf();
      signal.#roots = [];
      for (const source of sources) {
        if (!(source instanceof AbortSignal)) throw new TypeError("AbortSignal.any needs AbortSignals");
        if (source.aborted && !signal.aborted) signal.#reason = source.#reason;
        signal.#roots.push(...source.#roots);
      }
      if (!signal.aborted) for (const root of signal.#roots) root.#dependents.push(signal);
      return signal;
    }

    #abort(reason) {
      if (this.aborted) return;
      // All are aborted before any listener hears of it.
      const signals = [this, ...this.#dependents.filter((each) => !each.aborted)];
      this.#dependents = [];
      for (const each of signals) each.#reason = reason;
      for (const each of signals) each.dispatchEvent(new Event("abort"));
    }

    static end(signal, reason) { signal.#abort(reasonOf(reason)); }
  }
  const { end } = AbortSignal;
  delete AbortSignal.end;

  function reasonOf(reason) {
    return reason === undefined ? new Exception("This operation was aborted", "AbortError") : reason;
  }

  class AbortController {
    #signal = signalOf();
    get signal() { return this.#signal; }
    abort(reason) { end(this.#signal, reason); }
  }

  for (const each of [Event, EventTarget, AbortSignal, AbortController]) {
    replace(globalThis, each.name, each);
    Object.defineProperty(each.prototype, Symbol.toStringTag, { value: each.name, configurable: true });
  }
})
