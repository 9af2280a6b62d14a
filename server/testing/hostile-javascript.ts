import type { Program, ProgramError, ProgramFile } from "../runtime/sandbox/program.ts";

/** Hostile program, and the result that it must have. */
export interface Hostile {
  name: string;
  code: string;
  /** `harmless`: any result or error of the program's own. `ended`: stopped by any of the limits. */
  expected: { result: unknown } | { error: ProgramError["code"] } | "harmless" | "ended" | "any";
  arguments?: Record<string, unknown>;
  files?: ProgramFile[];
}

const ends = (error: ProgramError["code"], programs: Record<string, string>): Hostile[] =>
  Object.entries(programs).map(([name, code]) => ({ name, code, expected: { error } }));
const gives = (result: unknown, programs: Record<string, string>): Hostile[] =>
  Object.entries(programs).map(([name, code]) => ({ name, code, expected: { result } }));
const ended = (programs: Record<string, string>): Hostile[] =>
  Object.entries(programs).map(([name, code]) => ({ name, code, expected: "ended" as const }));
const harmless = (programs: Record<string, string>): Hostile[] =>
  Object.entries(programs).map(([name, code]) => ({ name, code, expected: "harmless" as const }));

/** Programs that never end by themselves. */
const endless = ends("code_timeout", {
  "a loop": "while (true) {}",
  "a loop in a function": "(function spin() { for (;;); })()",
  "a loop that catches": "for (;;) { try { for (;;); } catch {} }",
  "a loop in finally": "try { for (;;); } finally { for (;;); }",
  "a loop that prints": "for (;;) print('x');",
  "a loop that prints much": "const line = 'x'.repeat(1e5); for (;;) console.info(line);",
  "a loop to stderr": "for (;;) console.error('x');",
  "a loop that writes files": "for (let i = 0; ; i++) output.write('f' + i, 'x');",
  "a loop that writes one file": "for (;;) output.write('f', 'x'.repeat(1e5));",
  "a loop that reads": "for (;;) { try { input.text('none'); } catch {} }",
  "promises for ever": "const again = () => Promise.resolve().then(again); await again();",
  "promises that multiply slowly": "const spin = async () => { for (;;) await null; }; await spin();",
  "an endless generator": "function* all() { for (;;) yield 1; } for (const one of all());",
  "an endless async generator": "async function* all() { for (;;) yield 1; } for await (const one of all());",
  "an endless iterator, spread": "Math.max(...{ *[Symbol.iterator]() { for (;;) yield; } }) ",
  "a getter of the result": "({ get a() { for (;;); } })",
  "a toJSON of the result": "({ toJSON() { for (;;); } })",
  "a proxy as the result": "new Proxy({}, { ownKeys() { for (;;); } })",
  "a then of the result": "({ then() { for (;;); } })",
  "a toString of what is printed": "print({ toJSON() { for (;;); } })",
  "a name of a file": "output.write({ toString() { for (;;); } }, 'x')",
  "a message of an error": "throw { toJSON() { for (;;); } }",
  "a getter of an error's message":
    "const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e;",
  "a getter of an error's stack":
    "const e = new Error(); Object.defineProperty(e, 'stack', { get() { for (;;); } }); throw e;",
  "a regular expression that backtracks": "/(a+)+$/.test('a'.repeat(40) + 'b')",
  "another that backtracks": "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
  "one with a look-behind": "for (;;) /(?<=(a+)+)b$/.test('a'.repeat(40) + 'c')",
  "a comparison in a sort": "[3, 2, 1].sort(() => { for (;;); })",
  "a callback of a replacement": "'aa'.replace(/a/g, () => { for (;;); })",
  "a reviver": "JSON.parse('[1]', () => { for (;;); })",
  "code made of text": "new Function('for (;;);')()",
  "code by eval": "eval('for (;;);')",
  "code by the indirect eval": "(0, eval)('while (1);')",
  "a constructor of a constructor": "print.constructor.constructor('for (;;);')()",
  "a valueOf": "+{ valueOf() { for (;;); } }",
  "a walk of an array that is not there": "new Array(2 ** 32 - 2).indexOf(1)",
  "a join of an array that is not there": "Array(4e8).join('')",
  "a reversal of it": "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
  "a search in it": "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
  "a fill of it": "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "a large power": "(3n ** 300000n) ** 300n; for (;;);",
  "a label": "outer: for (;;) { for (;;) continue outer; }",
});

const memory = [
  ...ends("code_out_of_memory", {
    "one buffer": "new ArrayBuffer(500 * 2 ** 20)",
    "filled bytes": "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));",
    "typed arrays": "const all = []; for (;;) all.push(new Float64Array(1e5));",
  }),
  ...ended({
    "an array that grows": "const all = []; for (;;) all.push(all.length);",
    "a map": "const all = new Map(); for (let i = 0; ; i++) all.set(i, 'x' + i);",
    "a set of texts": "const all = new Set(); for (let i = 0; ; i++) all.add('text ' + i);",
    "promises that wait": "const all = []; for (;;) all.push(new Promise(() => {}));",
  }),
];

const tooLarge = ends("code_output_too_large", {
  "a large text as the result": "'x'.repeat(300 * 1024)",
  "a large array as the result": "Array.from({ length: 200000 }, (_, i) => i)",
  "a result that is larger in bytes": "'é'.repeat(200 * 1024)",
  "a result of a toJSON": "({ toJSON: () => 'x'.repeat(1e6) })",
});

const failing = ends("code_error", {
  "a recursion": "const again = () => again() + 1; again()",
  "a recursion of two": "const a = () => b(), b = () => a(); a()",
  "a recursion in a getter": "const o = { get x() { return this.x; } }; o.x",
  "a recursion in a proxy": "const p = new Proxy({}, { get: (_, k, r) => r[k] }); p.x",
  "a recursion in toString": "const o = { toString() { return '' + this; } }; '' + o",
  "a recursion in a constructor": "class A { constructor() { new A(); } } new A()",
  "a circle as the result": "const o = {}; o.self = o; o",
  "JSON that is deep": "JSON.parse('['.repeat(200000))",
  "no program": "this is not a program",
  "half a program": "function (",
  "a throw of nothing": "throw undefined",
  "a throw of a symbol": "throw Symbol('x')",
  "a throw of a function": "throw () => {}",
  "a rejection": "await Promise.reject(new Error('no'))",
  "a promise that never comes": "await new Promise(() => {})",
  "a large message": "throw new Error('x'.repeat(1e6))",
  "an import": "import fs from 'node:fs'; fs",
  "an import at run time": "await import('node:fs')",
  "an import of a file": "await import('/etc/passwd')",
  "an import of an address": "await import('http://127.0.0.1/')",
  require: "require('node:fs')",
  process: "process.env",
  Bun: "Bun.spawnSync(['id'])",
  fetch: "await fetch('http://169.254.169.254/')",
  "a worker": "new Worker('data:text/javascript,')",
  "a web socket": "new WebSocket('ws://127.0.0.1/')",
  WebAssembly: "new WebAssembly.Memory({ initial: 1 })",
  "a timer": "setTimeout(() => {}, 1)",
  "std of QuickJS": "std.open('/etc/passwd', 'r')",
  "os of QuickJS": "os.exec(['id'])",
  loadScript: "loadScript('/etc/passwd')",
  "a folder above": "output.write('../outside', 'x')",
  "a path": "output.write('/tmp/runnel-hostile', 'x')",
  "a path of Windows": "output.write('a\\\\b', 'x')",
  "a name with NUL": "output.write('a\\0b', 'x')",
  "a name of dots": "output.write('..', 'x')",
  "no name": "output.write('', 'x')",
  "a long name": "output.write('n'.repeat(256), 'x')",
  "a name in half characters": "output.write('\\ud800', 'x')",
  "bytes that are none": "output.write('a', { byteLength: 1e12 })",
  "a file that is not there": "input.text('../../etc/passwd')",
  "a file by its path": "input.bytes('/etc/passwd')",
  "a change of the input": "'use strict'; input.text = () => 'mine'",
  "a change of the console": "'use strict'; console.info = () => {}",
});

const contained = [
  ...gives(null, {
    nothing: "",
    "a function as the result": "() => 1",
    "a symbol as the result": "Symbol('x')",
    undefined: "undefined",
  }),
  ...gives("undefined", {
    "no process": "typeof process",
    "no host by the constructor of a function": "print.constructor('return typeof process')()",
    "no host by the constructor of a result": "input.names().constructor.constructor('return typeof Bun')()",
    "no host by an error":
      "try { input.text('none') } catch (e) { e.constructor.constructor('return typeof require')() }",
    "no host by an async function": "await (async () => {}).constructor('return typeof process')()",
    "no host by a generator": "(function* () {}).constructor('yield typeof process')().next().value",
    "no host by its prototype": "typeof Object.getPrototypeOf(print).process",
    "no host by this": "typeof (function () { return this })().Deno",
    "no host by the caller": "typeof (() => { try { return print.caller?.process } catch {} })()",
    "no functions of the library": "typeof host",
    "no engine's own functions": "typeof gc",
  }),
  ...gives(10, { "a big integer as the result": "10n" }),
  ...gives(1, {
    "a broken JSON": "JSON.stringify = () => { throw 1 }; JSON.parse = null; 1",
    "a broken prototype": "Object.prototype.toJSON = undefined; Object.prototype.x = 1; 1",
    "a broken array": "Array.prototype.map = null; Array.prototype.join = null; 1",
    "a broken promise": "globalThis.Promise = null; 1",
    "a frozen world": "for (const k of Object.getOwnPropertyNames(globalThis)) Object.freeze(globalThis[k]); 1",
    "an emptied world":
      "for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k] } catch {} } 1",
    "a polluted prototype": "({}).__proto__.polluted = 'yes'; 1",
    "a text without its functions": "String.prototype.includes = null; delete String.prototype.replace; 1",
  }),
  ...harmless({
    "a key of a prototype in the result": `JSON.parse('{"__proto__": {"admin": true}}')`,
    "a result in half characters": "'\\ud800'",
    "a result with NUL": "'a\\0b'",
    "what looks like an answer": `print('\\u0006\\u0000\\u0000\\u0000\\u0000{"error":null}')`,
    "control characters": "print('\\u001b[2J\\u0007\\u0000')",
    "a deep result": "let o = 1; for (let i = 0; i < 60; i++) o = [o]; o",
    "a result that is too deep": "let o = 1; for (let i = 0; i < 1000; i++) o = [o]; o",
    "a result that is very deep": "let o = 1; for (let i = 0; i < 1e5; i++) o = { o }; o",
    "many files": "for (let i = 0; i < 1000; i++) output.write('f' + i, 'x')",
    "large files": "for (let i = 0; i < 10; i++) output.write('f' + i, new Uint8Array(2e6))",
    "a buffer that is taken away":
      "const b = new ArrayBuffer(8); output.write('a', new Uint8Array(b)); b.transfer?.(); 1",
    "a thousand sorts":
      "const a = Array.from({ length: 1e5 }, (_, i) => -i); a.sort((x, y) => Math.random() - 0.5).length",
    "a then that answers twice": "({ then(ok) { ok(1); ok(2); throw 3 } })",
    "an error that lies": "const e = new InternalError('out of memory'); throw e",
    "an error without a prototype": "throw Object.create(null)",
    "a finalizer": "new FinalizationRegistry(() => { for (;;); }).register({}, 1); 1",
    "a subclass of a promise":
      "class P extends Promise { then() { for (let i = 0; i < 1e5; i++); return this } } new P(() => {}); 1",
    "a recursion through JSON": "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)",
    "a recursion through sort": "const f = () => [2, 1].sort(f); f()",
    "a recursion through replace": "const f = () => 'a'.replace(/a/, f); f()",
    "a recursion through a regular expression": "new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('')",
    "code that nests": "eval('('.repeat(1e5) + '1' + ')'.repeat(1e5))",
    "blocks that nest": "eval('{'.repeat(1e5) + '}'.repeat(1e5))",
    "arrays that nest": "eval('['.repeat(1e5) + ']'.repeat(1e5))",
    "JSON that nests": "JSON.parse('['.repeat(5e4) + ']'.repeat(5e4))",
    "a chain of operators": "eval(Array(1e5).fill('1').join('+'))",
  }),
  { name: "a function that is none", code: "1", arguments: {}, expected: { error: "code_error" } },
  {
    name: "code after the function",
    code: "(a) => 1); for (;;); (0",
    arguments: {},
    expected: { error: "code_timeout" },
  },
  {
    name: "a function that never ends",
    code: "async () => { for (;;) await 0 }",
    arguments: {},
    expected: { error: "code_timeout" },
  },
  {
    name: "an argument with a prototype",
    code: "(a) => typeof a.polluted",
    arguments: { ["__proto__"]: { polluted: 1 } },
    expected: { result: "undefined" },
  },
  {
    name: "a file as large as the memory",
    code: "input.bytes('large').length",
    files: [{ name: "large", bytes: new Uint8Array(30 * 2 ** 20) }],
    expected: { error: "code_error" },
  },
  {
    name: "a file that is changed",
    code: "input.bytes('a').fill(0); input.text('a')",
    files: [{ name: "a", bytes: new Uint8Array([0x68, 0x69]) }],
    expected: { result: "hi" },
  },
] satisfies Hostile[];

/** All programs, each with a unique name. */
export const hostileJavaScript: readonly Hostile[] = [...endless, ...memory, ...tooLarge, ...failing, ...contained];

/** Returns a hostile program in the form that the sandbox takes. */
export const toProgram = ({ code, arguments: given, files = [], expected }: Hostile): Program => ({
  language: "javascript",
  code,
  arguments: given ?? null,
  files,
  // Only programs that would never end, or end late, get a short timeout. The others end by themselves, on a busy
  // machine too.
  timeout_ms:
    expected === "ended" || (typeof expected === "object" && "error" in expected && expected.error === "code_timeout")
      ? 150
      : 45_000,
  memory_mb: 64,
});
