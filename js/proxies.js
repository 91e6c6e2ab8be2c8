// Proxies, each marked as it is made.
//
// The language does not tell a proxy from its target, and asking it anything runs a trap. The mark is a
// private field, which no trap sees; there is no other way to make a proxy than the one replaced here.
(function (kit) {
  "use strict";

  const { defineProperty, replace } = kit;
  const ProxyOf = Proxy;
  const TypeErrorOf = TypeError;
  const { revocable } = Proxy;

  class Mark extends (function (marked) { return marked; }) {
    #behind;

    constructor(proxy, behind) {
      super(proxy);
      this.#behind = behind;
    }

    static isOn(value) {
      return #behind in value;
    }

    // What is behind a value that may be a proxy; null behind one that was revoked.
    static target(value) {
      while (value !== null && #behind in value) value = value.#behind;
      return value;
    }

    static revoke(proxy) {
      proxy.#behind = null;
    }
  }
  const markRevoked = Mark.revoke;

  function NotedProxy(of, handler) {
    if (new.target === undefined) throw new TypeErrorOf("Proxy must be called with new");
    return new Mark(new ProxyOf(of, handler), of);
  }
  defineProperty(NotedProxy, "name", { __proto__: null, value: "Proxy" });
  NotedProxy.prototype = undefined;
  replace(NotedProxy, "revocable", { revocable(of, handler) {
    const { proxy, revoke } = revocable(of, handler);
    new Mark(proxy, of);
    return { proxy, revoke() { revoke(); markRevoked(proxy); } };
  } }.revocable);
  replace(globalThis, "Proxy", NotedProxy);

  return { __proto__: null, isProxy: Mark.isOn, target: Mark.target };
})
