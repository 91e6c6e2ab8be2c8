// What Node prints for each of these lines, the guest's console prints too. One row a line, so that a
// difference names it; what is declared with `var` or `class` is for the rows below.
console.log(Object.create(null), {a:Object.assign(Object.create(null),{x:{y:{z:{}}}})}, Object.create(Object.create(null)));
console.log(new WeakMap(), new WeakSet());
class Foo extends Error{}; class A{static x=1}; class P{constructor(){this.a=1}}
console.log((function(){return arguments})(1,2), function(){}, async()=>1, function*g(){}, class extends Foo{}, A, async function*h(){}, [class B extends P{}]);
console.log(new DataView(new ArrayBuffer(2)), new Uint8Array(3), new (class Q extends Uint8Array{})(2), Object(1n), Object(Symbol('x')), Object.assign(Object('abc'),{z:1}), new Float64Array([1.5,-0]), new BigInt64Array(2));
console.log({get a(){return 1},set a(v){}, set b(v){}, get c(){return 1}, [Symbol('k')]:1,'a-b':2,$d:3, __proto__: {q:1}}, new (class extends Map{})([[1,{a:{b:{c:1}}}]]));
console.log([,1,,,2], [1,2,undefined,null], Array(3), Object.assign([1,2],{x:1,'-1':2}), [['a',['b',['c',['d']]]]], {a:{b:{c:{d:1}}}});
console.log('%s|%d|%i|%f|%j|%o|%O|%c|%%|%x', {a:{b:1}}, '42', 42.9,'1.5x',{a:1},[1,{b:2}],{c:{d:{e:{f:1}}}},'css','rest',{z:1});
console.log('%s %s %s %s', 1n, Symbol('a'), -0, undefined, 'more', 5); console.log('100%', 5); console.log('%d%%', 50); console.log('%', 1); console.log('a%sb'); console.log('%s', null, [1]); console.log('%s',[1,[2,[3]]], ()=>1); console.log('%d %i %f', {}, {}, {}, Symbol('x')); console.log('%i %d', 5n, 5n);
console.log(new Proxy({a:1},{}), new Proxy(function f(){},{}), [new Proxy([1,2],{})]);
{const r=Proxy.revocable({}, {}); r.revoke(); console.log(r.proxy);}
console.log(["it's", 'say "hi"', `it's "x"`, "a\nb\u0000\x7f\ud800", 'ünï', '😀', '\x1b[31m'], 'a\nb', Symbol('q\n'), -0, [-0], 1n, new Date(NaN), [new Date(0)], /x/gi, Math, JSON, Reflect);
console.log({s:'x'.repeat(60)+'\n'+'y'.repeat(60)}, 'z'.repeat(3));
console.log(Array.from({length:120},(_, i)=>i), Array.from({length:30},(_, i)=>'item'+i), new Set(Array.from({length:7},(_, i)=>i)));
console.log(Array.from({length:120},(_, i)=>'x'.repeat(i%9)), Array.from({length:101},(_, i)=>({a:i})).length);
console.log(Array.from({length:27},(_, i)=>i*1000.5), new Uint8Array(200), new Set(Array.from({length:120},(_, i)=>i)), new Map(Array.from({length:120},(_, i)=>[i,i])));
console.table([{a:1,b:'x'},{a:2,c:{d:1}}]); console.table([1,'b']); console.table(new Map([['k',1]])); console.table(new Set([1])); console.table([[1,2],[3,4]]); console.table([{a:1,b:2}],['b']); console.table(5); console.table([]); console.table([{a:1},5,[7]]); console.table({x:{p:1},y:{q:2}}); console.table([{a:'日本',b:[1,2,3,4,5]},{a:{x:1,y:2,z:3}}]);console.table(new Map([['k',{a:1}]])); console.table([{a:1,b:2}],['b','zz']);
console.log(new (function Old(){this.a=1})(), {f(){}, g:()=>1, h:class{}});
console.log((function*(){})(), [][Symbol.iterator](), new (class X { [Symbol.toStringTag]='T' })(), {[Symbol.toStringTag]:'T'});
const c={name:'c'}; c.self=c; c.list=[c,{c}]; console.log(c); const m=new Map(); m.set('m',m); console.log(m); const a1={},b1={a1}; a1.b1=b1; console.log([a1,b1]);
console.log({a:1,b:'two',c:[1,2,3],d:{e:{f:{g:1}}}}, [{a:1,b:2},{a:3,b:4}], [[1,2,[3,4,[5,[6]]]],{}], [], {}, [[]], [{}]);
console.log({users:[{id:1,name:'Alice Johnson',email:'alice@example.com',roles:['admin','user']},{id:2,name:'Bob',email:'bob@example.com',roles:[]}],total:2});
console.log({data:'x'.repeat(200)}, ['x'.repeat(80),'y'.repeat(80)], 'x'.repeat(20000).length, ['x'.repeat(10050)]);
console.log([1.5,2.25,-3], [true,false,null,undefined], [1n,2n,3n,4n,5n,6n,7n,8n], ['a','b','c','d','e','f','g'], Array.from({length:10},(_, i)=>({i})));
console.log(Object.assign(()=>1,{a:1}), Object.assign(function n(){},{b:{c:1}}), Object.assign(/x/,{z:1}), Object.assign(new Date(0),{z:1}), new (class D2 extends Date{})(0), new (class R2 extends RegExp{})('a','g'));
console.log(Object.defineProperty({},'hid',{value:1}), Object.freeze({a:1}), [Symbol.iterator], {[Symbol.iterator]:1}, new ArrayBuffer(4), {b:new ArrayBuffer(120).byteLength}, Object.create({x:1}), Object.create(P.prototype), P.prototype, new P(), [new P()], {p:{q:{r:new P()}}}, {p:{q:{r:[1]}}},{p:{q:{r:new Map([[1,2]])}}});
console.log(Object.setPrototypeOf([1,2],null), Object.setPrototypeOf(new Map([[1,2]]),null), Object.setPrototypeOf(()=>1,null), Object.setPrototypeOf(new Date(0),null), Object.setPrototypeOf(/a/g,null));
console.group('G'); console.log('in\nside'); console.group(); console.log({a:1}); console.groupEnd(); console.groupEnd(); console.log('out');
console.count(); console.count('x'); console.count(); console.countReset(); console.count();
console.dir({a:{b:{c:{d:1}}}},{depth:0}); console.dir('str'); console.dir({a:{b:{c:{d:{e:1}}}}},{depth:null}); console.log('%o', {f(){}}.a); console.log('%O', 'str', 'x'); console.log('%o', 'str');
console.log(null, undefined, true, 'x'); console.log(); console.log(''); console.log([null, undefined]); console.log([[[[]]]], [[[{}]]], {a:{b:{c:{}}}}, [[[[1]]]]);
console.log({ 'key with space': 1, 2: 'x', valid_id: 3, 'ключ': 1, class: 2 }, {__proto__:null,['__proto__']:1}, [ 'a\\b', 'tab\t' ], new Array(5).fill(), [1,,3], [,'x',,].length);
console.log([['name','age'],['Al',3]], new Map([['key',{nested:{deep:{er:1}}}],[{k:1},[1,2]]]), new Set([[1,2],{a:1}]), [new Set(), new Map()], new Number(3), new String('s'), [new Boolean(false)]);
console.log(Array.from({length:200},(_, i)=>i%3?i:'s'+i)); console.log(Array.from({length:8},(_, i)=>'日本'.repeat(i%3+1)));console.log(Array.from({length:8},()=>'😀é'));
console.log({a:[{b:{c:{}}}], longer:'some quite long text that goes on', another:'more text here ok', num:12345});
console.log({a:'x'.repeat(50),b:{c:'y'.repeat(30),d:{e:1,f:[1,2,3,{g:1}]}}}); console.log({matrix:[[1,0,0],[0,1,0],[0,0,1]]}, {fn:function(){}, sym:Symbol.iterator, re:/a\/b/, d:new Date(1e12)});
console.log(new Array(101).fill(0).map((_, i)=>[i]).slice(0,30)); console.log('x'.match(/(?<n>x)/)); console.log('abc'.split('').entries().toString()); console.log([..."abc"].map((x,i)=>({[x]:i})));
console.log({ a: 1n, b: [ -0, NaN, Infinity ], u: undefined, n: null }); console.log(Object.entries({a:1,b:2}), Object.fromEntries([['x',[1]]])); console.log(Number, String, Map, Promise, parseInt, Symbol);
console.log(Array.from({length: 7}, (_, i) => ({id: i, title: 'Title number ' + i, tags: ['a','b']}))); console.log({a:Array(50).fill('word')}); console.log(Array(3).fill({x:{y:{z:{}}}}));
