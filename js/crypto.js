// `crypto`: random bytes from the system, as the Web Cryptography API gives them; nothing else of it.
(function (kit) {
  "use strict";

  const { random, typedArrayTag, typedArrayLength } = kit;
  const MOST = 65_536; // bytes at a time, as the standard says
  const WHOLE = /^(?:Big)?(?:Int|Uint)\d+(?:Clamped)?Array$/;
  const fromHex = Uint8Array.fromHex.bind(Uint8Array);
  const Exception = DOMException;

  class Crypto {
    getRandomValues(array) {
      if (arguments.length === 0 || !WHOLE.test(typedArrayTag(array) ?? "")) {
        throw new Exception("getRandomValues fills an array of whole numbers", "TypeMismatchError");
      }
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      const count = typedArrayLength(bytes);
      if (count > MOST) {
        throw new Exception(`getRandomValues gives at most ${MOST} bytes, not ${count}`, "QuotaExceededError");
      }
      bytes.set(fromHex(random(count)));
      return array;
    }

    randomUUID() {
      const hex = random(16);
      const variant = "89ab"[parseInt(hex[16], 16) & 3];
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
    }
  }
  Object.defineProperty(Crypto.prototype, Symbol.toStringTag, { value: "Crypto", configurable: true });

  return { __proto__: null, Crypto, crypto: new Crypto() };
})
