// Timers. The worker sleeps until one is due; each runs in a turn of its own, with all jobs between.
(function (kit) {
  "use strict";

  const { apply, replace, uncaught, uncurry } = kit;
  const { floor } = Math;
  const TypeErrorOf = TypeError;
  const now = performance.now.bind(performance);
  const mapGet = uncurry(Map.prototype.get);
  const mapPut = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);

  const LONGEST_MS = 2147483647; // a longer one, or none, is 1 ms: as in Node and the browsers

  // A list by due time, and those with a number by it. `held` counts what the run has to wait for.
  const list = { __proto__: null, first: null, last: null, held: 0 };
  const numbered = new Map();
  let last = 0;

  function insert(timer) {
    let before = list.last;
    while (before !== null && before.due > timer.due) before = before.before;
    const after = before === null ? list.first : before.after;
    timer.before = before;
    timer.after = after;
    if (before === null) list.first = timer;
    else before.after = timer;
    if (after === null) list.last = timer;
    else after.before = timer;
    if (timer.holds) list.held += 1;
  }

  function remove(timer) {
    if (timer.before === null) list.first = timer.after;
    else timer.before.after = timer.after;
    if (timer.after === null) list.last = timer.before;
    else timer.after.before = timer.before;
    if (timer.holds) list.held -= 1;
  }

  // `holds`: whether the run waits for it once its script is done.
  function add(callback, delay, given, { repeats, holds }) {
    if (typeof callback !== "function") throw new TypeErrorOf("a timer needs a function to call");
    const ms = +delay;
    const period = ms >= 1 && ms <= LONGEST_MS ? floor(ms) : 1;
    last += 1;
    const timer = {
      __proto__: null, id: last, callback, given, period, repeats, holds,
      due: now() + period, before: null, after: null,
    };
    mapPut(numbered, last, timer);
    insert(timer);
    return last;
  }

  function clear(id) {
    const timer = mapGet(numbered, typeof id === "string" ? +id : id);
    if (timer === undefined) return;
    mapDelete(numbered, timer.id);
    remove(timer);
  }

  const once = { __proto__: null, repeats: false, holds: true };
  const again = { __proto__: null, repeats: true, holds: true };
  const unheld = { __proto__: null, repeats: false, holds: false };
  const functions = {
    setTimeout(callback, delay, ...given) { return add(callback, delay, given, once); },
    setInterval(callback, delay, ...given) { return add(callback, delay, given, again); },
    clearTimeout(id) { clear(id); },
    clearInterval(id) { clear(id); },
  };
  for (const name in functions) replace(globalThis, name, functions[name]);

  return {
    __proto__: null,

    // A timer that keeps nobody waiting.
    later: (callback, delay) => add(callback, delay, [], unheld),

    // Forgets them all: a session's line is over.
    clear() {
      while (list.first !== null) clear(list.first.id);
    },

    // Milliseconds until the next one that is waited for; -1 where there is none.
    wait(all) {
      if (list.first === null || (!all && list.held === 0)) return -1;
      const left = list.first.due - now();
      return left > 0 ? left : 0;
    },

    turn() {
      const timer = list.first;
      if (timer === null || timer.due > now()) return;
      remove(timer);
      if (timer.repeats) {
        timer.due = now() + timer.period;
        insert(timer);
      } else {
        mapDelete(numbered, timer.id);
      }
      try {
        apply(timer.callback, undefined, timer.given);
      } catch (thrown) {
        uncaught(thrown);
      }
    },
  };
})
