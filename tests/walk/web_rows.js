// What Node answers for each row, the guest's globals answer too. The value is a list of JSON texts.
const rows = [];
const row = (make) => { let out; try { out = make() } catch (e) { out = ["threw", e.name] } rows.push(out) };
const bytes = (...list) => new Uint8Array(list);
const list = (b) => Array.from(b);
for (const text of ["", "a", "\u007f\u0080\u07ff\u0800\uffff", "😀", "\ud800", "\udc00\ud800", "a\ud83dz", "\u0000"]) row(() => list(new TextEncoder().encode(text)));
for (const size of [0, 1, 2, 3, 4, 5]) row(() => { const b = new Uint8Array(size); return [new TextEncoder().encodeInto("é€😀", b), list(b)] });
const BAD = [[0x80],[0xc0,0x80],[0xc2],[0xe0,0x80,0x80],[0xe2,0x82],[0xe2,0x82,0x41],[0xed,0xa0,0x80],[0xf0,0x80,0x80,0x80],[0xf4,0x90,0x80,0x80],[0xf5],[0xff,0xfe],[0xf0,0x9f,0x98],[0xf0,0x9f,0x98,0x80],[0xef,0xbb,0xbf,0x61],[0x61,0xef,0xbb,0xbf],[0xef,0xbb,0xbf,0xef,0xbb,0xbf],[0xe2,0xe2,0x82,0xac]];
for (const b of BAD) { row(() => new TextDecoder().decode(bytes(...b))); row(() => new TextDecoder("utf-8", {fatal: true}).decode(bytes(...b))); row(() => new TextDecoder("utf8", {ignoreBOM: true}).decode(bytes(...b)));
  row(() => { const d = new TextDecoder(); let out = ""; for (const each of b) out += "[" + d.decode(bytes(each), {stream: true}) + "]"; return out + d.decode() });
  row(() => new TextDecoder("utf-16le").decode(bytes(...b))); }
for (const b of [[0x3d,0xd8,0x00,0xde],[0x3d,0xd8],[0x00,0xde],[0x3d,0xd8,0x41,0x00],[0xff,0xfe,0x41,0x00],[0x41],[0x3d,0xd8,0x3d,0xd8,0,0xde]]) { row(() => new TextDecoder("utf-16").decode(bytes(...b)));row(() => new TextDecoder("utf-16le",{fatal:true}).decode(bytes(...b)));
  row(() => { const d = new TextDecoder("utf-16le"); let out = ""; for (const each of b) out += "[" + d.decode(bytes(each), {stream: true}) + "]"; return out + d.decode() }); }
for (const label of [" UTF-8 ", "latin1", "ascii", "nope", "", "utf-16"]) row(() => new TextDecoder(label).encoding);
row(() => new TextDecoder().decode(new DataView(new ArrayBuffer(3), 1))); row(() => new TextDecoder().decode("x")); row(() => TextDecoder()); row(() => new TextDecoder().decode());
row(() => Object.prototype.toString.call(new TextEncoder()) + new TextEncoder().encoding);
// search parameters
for (const init of ["?a=1&b=2&a=3", "a=b=c&&=x&y", "%zz=%E4%A0%80%80&a+b=c%20d", "a=%ef%bb%bfx", "", "?", "a=é&ü=😀\ud800", [["a","1"],["b","2"]], {x: 1, "ß": "y z"}, new Map([["k", "v"]]), [["a"]], [1], "a=%", "a=%4", "a=1;b=2"]) {
  row(() => String(new URLSearchParams(init))); row(() => [...new URLSearchParams(init)]); row(() => new URLSearchParams(init).size); }
row(() => { const p = new URLSearchParams("b=1&a=2&b=3&c=4"); p.append("a", "!~'()*-._ +&="); p.delete("c"); p.set("b", "x"); p.sort(); return [String(p), p.get("a"), p.getAll("a"), p.get("q"), p.has("a", "2"), p.has("a", "9"), [...p.keys()], [...p.values()]] });
row(() => { const p = new URLSearchParams("a=1&a=2&b=3"); p.delete("a", "2"); return String(p) });
row(() => { const out = []; new URLSearchParams("a=1&b=2").forEach((v, k) => out.push(k + v)); return out });
row(() => new URLSearchParams(new URLSearchParams("a=1")).toString()); row(() => new URLSearchParams("a=1").append("b")); row(() => new URLSearchParams("z=1&ﬃ=2&🌈=3&a=4") .toString());
row(() => { const p = new URLSearchParams("ﬃ=2&🌈=3"); p.sort(); return [...p.keys()] });
// addresses
const PARTS = ["href","origin","protocol","username","password","host","hostname","port","pathname","search","hash"];
const parts = (u) => PARTS.map((p) => u[p]);
for (const [url, base] of [["http://ExAmPlE.com:80/a/./b/../c?q#f"],["//x/y","https://b/c"],["?q","http://a/b?c#d"],["#f","http://a/b?c#d"],["","http://a/b"],["file:///C|/x/../y"],["mailto:a@b"],["data:text/plain,hi there"],["http://[::1]:3000/"],["http://1.2"],["http://0x7f.1/"],["http://ß.de/ä?ö#ü"],["javascript:alert(1)"],["http://a b/"],["http://user@/x"],["blob:https://a.b/c"],["  http://x/\t\n y "],["http://x:99999/"],["ws://h:80/"],["non-special:/..//p"],["http://日本.jp"],["../x","mailto:a"],["http://a/%7Efoo/%zz"],["http://a\\b\\c"],["http://256.1.1.1"],["https://a@b@c/"]])
  { row(() => parts(new URL(url, base))); row(() => URL.canParse(url, base)); }
for (const [part, value] of [["protocol","ftp"],["protocol","foo"],["username","a b"],["password",":@"],["host","z:1"],["hostname","q r"],["hostname","new.host"],["port","8x"],["port","x"],["port",""],["pathname","a b/ü"],["search","q=ü"],["search",""],["hash","x y"],["hash",""],["href","http://n/"],["href","nope"],["origin","x"]])
  row(() => { "use strict"; const u = new URL("http://u:p@h.com:81/p?q=1#f"); const s = u.searchParams; u[part] = value; return [parts(u), String(s)] });
row(() => { const u = new URL("http://h/?a=1"); u.searchParams.append("b", "ä &"); u.searchParams.delete("a"); return u.href });
row(() => { const u = new URL("http://h/?a=1"); u.searchParams.delete("a"); return u.href });
row(() => { const u = new URL("http://h/?a= ~'"); return [u.href, String(u.searchParams)] });
row(() => JSON.stringify([new URL("http://h")]) + String(new URL("http://h"))); row(() => new URL()); row(() => URL("http://h")); row(() => { try { new URL("x") } catch (e) { return [e.message, e.code, e.input, e instanceof TypeError] } });
row(() => new URL({toString: () => "http://o/"}).href); row(() => new URL("http://h", undefined).href);
// clones
const clone = (v) => structuredClone(v);
row(() => clone({a: [1, , 3], n: null, u: undefined, b: 1n, d: new Date(5), s: "x", nan: NaN, z: -0}));
row(() => { const c = clone(Object.assign([1, 2], {extra: 1})); return [c, c.extra, Object.keys(c)] });
row(() => [...clone(new Map([[{k: 1}, new Set([1, [2]])]]))].map(([k, v]) => [k, [...v]]));
row(() => { const o = {n: "o"}; o.self = o; o.list = [o]; const c = clone(o); return [c.self === c, c.list[0] === c, c !== o] });
row(() => { const r = clone(/a\/b/gi); return [String(r), r.lastIndex] }); row(() => list(clone(new Uint8Array([1, 2, 3]).subarray(1)))); row(() => { const b = new ArrayBuffer(4), c = clone([new Uint8Array(b), new Uint16Array(b)]); return c[0].buffer === c[1].buffer });
row(() => { const e = clone(new RangeError("m", {cause: {c: 1}})); return [e.name, e.message, e.cause, e instanceof RangeError] });
row(() => { class E extends Error { name = "Mine" } const e = clone(new E("m")); return [e.name, e.message, e.constructor.name] });
row(() => { class P { constructor() { this.a = 1 } get b() { return 2 } } const c = clone(new P()); return [c, c.constructor.name] });
row(() => clone({get g() { return 7 }})); row(() => clone(() => 1)); row(() => clone(Symbol("s"))); row(() => clone({f() {}})); row(() => clone(new WeakMap())); row(() => clone(Promise.resolve())); row(() => clone(new Proxy({}, {}))); row(() => structuredClone());
row(() => { try { clone(() => 1) } catch (e) { return [e.name, e.code, e instanceof DOMException, e instanceof Error] } });
row(() => { const b = new ArrayBuffer(2), c = structuredClone(b, {transfer: [b]}); return [b.byteLength, c.byteLength] });
row(() => [typeof clone(Object(1)), typeof clone(Object("s")), clone(Object(true)).valueOf()]); row(() => Object.keys(clone({[Symbol("k")]: 1, a: 1}))); row(() => JSON.stringify(clone(JSON.parse('{"__proto__": 1}'))));
// Buffer
for (const [text, from] of [["héllo", "utf8"], ["aGk=", "base64"], ["aGk", "base64"], ["_-8", "base64url"], ["a G\nk=x", "base64"], ["6869f", "hex"], ["68zz", "hex"], ["", "hex"], ["ÿĀ", "latin1"], ["hi", "utf16le"], ["+/8=", "base64url"], ["YQ==YQ==", "base64"], ["a", "base64"]])
  { row(() => list(Buffer.from(text, from))); for (const to of ["utf8", "hex", "base64", "base64url", "latin1", "ascii", "utf16le"]) row(() => Buffer.from(text, from).toString(to)); }
row(() => Buffer.from("x", "nope")); row(() => list(Buffer.from([1, 257, -1]))); row(() => Buffer.from(new Uint8Array([1, 2]).buffer).length); row(() => Buffer.isBuffer(Buffer.from("")) + "" + Buffer.isBuffer(new Uint8Array())); row(() => Buffer.byteLength("é€")); row(() => JSON.stringify(Buffer.from("ab"))); row(() => Buffer.from("abcdef").toString("utf8", 1, 3)); row(() => list(Buffer.alloc(3, "ab"))); row(() => Buffer.concat([Buffer.from("a"), Buffer.from("bc")]).toString()); row(() => Buffer.from("abc").slice(1).toString()); row(() => Buffer.from("abc").equals(Buffer.from("abc"))); row(() => Buffer.from("abcabc").indexOf("ca")); row(() => Buffer.compare(Buffer.from("a"), Buffer.from("b"))); row(() => Buffer.from(5)); row(() => `${Buffer.from("t")}`); row(() => Buffer.from("ab").subarray(1) instanceof Buffer); row(() => Buffer.from(Buffer.from("q")).toString()); row(() => Buffer.from({type: "Buffer", data: [104, 105]}).toString());
// base64 and random
for (const t of ["", "a", "ab", "abc", "\xff\x00", "é", "Ā"]) row(() => btoa(t)); for (const t of ["", "YQ==", "YQ", "Y Q=\n=", "Y", "YQ=", "Y$==", "YWJj", null, undefined]) row(() => atob(t));
row(() => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())); row(() => crypto.getRandomValues(new Float32Array(1))); row(() => crypto.getRandomValues(new Uint8Array(65537))); row(() => crypto.getRandomValues(new BigInt64Array(2)).length); row(() => crypto.getRandomValues(new Uint8Array(65536)).some((b) => b > 0)); row(() => crypto.getRandomValues([]));
row(() => { const u = new Uint32Array(8).subarray(2, 6); return crypto.getRandomValues(u) === u });
// numbers
for (const n of [0, -0, 1, -1234.5, 1234567.891, 0.12345, 1e21, 123456789012345680000, NaN, Infinity, 999.9999, 1e-7, 1.005]) row(() => n.toLocaleString("en-US"));
for (const o of [{minimumFractionDigits: 2}, {maximumFractionDigits: 0}, {style: "percent"}, {style: "currency", currency: "USD"}, {style: "currency", currency: "JPY"}, {style: "currency", currency: "CHF"}, {useGrouping: false}, {minimumFractionDigits: 5}, {minimumFractionDigits: 2, maximumFractionDigits: 1}, {style: "percent", minimumFractionDigits: 1}, {style: "currency", currency: "USD", maximumFractionDigits: 0}]) for (const n of [1234.567, 0.5, -3, 1e6]) row(() => n.toLocaleString("en-US", o));
row(() => 1234567890123n.toLocaleString("en-US")); row(() => [1234.5, 2, "x"].toLocaleString("en-US"));
row(() => [typeof performance.now(), performance.now() <= performance.now()]);
rows.map((r) => JSON.stringify(r, (_, v) => typeof v === "bigint" ? `${v}n` : v) ?? "undefined")
