import type { Hostile } from "./hostile-javascript.ts";

/** Resources outside the sandbox, which no program may reach. */
interface Outside {
  /** Port of a listener on loopback, TCP and UDP. */
  port: number;
  parent: number;
}

const table = (expected: Hostile["expected"], programs: Record<string, string>): Hostile[] =>
  Object.entries(programs).map(([name, code]) => ({ name, code, expected }));

/**
 * Code that runs outside the interpreter, in the runtime around it, as if a program had broken out: the jail must hold
 * it. `get` and `fs` are in scope.
 */
const escaped = (code: string) => `
from pyodide.ffi import to_js
Function = to_js([1]).constructor.constructor
value = Function(${JSON.stringify(`const get = process.getBuiltinModule; const fs = get("fs"); ${code}`)})()
await value if hasattr(value, "then") else value
`;
const escapes = (expected: Hostile["expected"], programs: Record<string, string>): Hostile[] =>
  table(expected, Object.fromEntries(Object.entries(programs).map(([name, code]) => [name, escaped(code)])));

/** Tries something with each item; fails only if none succeeded. */
const tried = (list: string, act: string) =>
  `const through = ${list}.filter((each) => { try { ${act}; return true; } catch { return false; } }); if (through.length === 0) throw new Error("none"); return String(through);`;

const file = "/tmp/runnel-hostile";

/** Programs that never end by themselves. */
const endless = table(
  { error: "code_timeout" },
  {
    "a loop": "while True: pass",
    "a loop that catches all": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "a loop in finally": "try:\n    while True: pass\nfinally:\n    while True: pass",
    "a loop without a line": "import itertools, collections\ncollections.deque(itertools.repeat(1), 1)",
    "an endless sum": "import itertools\nsum(itertools.count())",
    "a flood of output": "while True: print('x' * 1000)",
    "a flood of errors": "import sys\nwhile True: sys.stderr.write('x')",
    "a flood of files": "i = 0\nwhile True:\n    i += 1\n    open(f'f{i % 1000}', 'w').close()",
    "a regular expression that backtracks": "import re\nre.match(r'(a+)+$', 'a' * 50 + 'b')",
    "a number that takes years": "10 ** 10 ** 8 % 7\nwhile True: pass",
    "an ignored interrupt": "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    "an interrupt that is taken": "import signal\nsignal.signal(signal.SIGINT, lambda *_: None)\nwhile True: pass",
    "a long sleep": "import time\ntime.sleep(1000)",
    "a long wait": "import asyncio\nawait asyncio.sleep(1000)",
    "a wait for nothing": "import asyncio\nawait asyncio.get_running_loop().create_future()",
    "tasks for ever": "import asyncio\nwhile True: await asyncio.sleep(0)",
    "a text of the result": "class A:\n    def __str__(self):\n        while True: pass\nA()",
    "a text of an error": "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()",
    "a sort": "class A:\n    def __lt__(self, other):\n        while True: pass\nsorted([A(), A()])",
    "a trace": "import sys\ndef t(*_):\n    while True: pass\nsys.settrace(t)\n(lambda: 1)()",
    "an import":
      "import sys\nclass F:\n    def find_spec(self, *_):\n        while True: pass\nsys.meta_path.insert(0, F())\nimport nothing",
  },
);

const memory: Hostile[] = [
  ...table(
    { error: "code_out_of_memory" },
    {
      "one large text": "'x' * 10 ** 9",
      "large bytes": "bytearray(2 * 10 ** 9)",
      "a list that grows": "all = []\nwhile True: all.append(bytearray(10 ** 6))",
      "a zip that grows":
        "import io, zipfile\nb = io.BytesIO()\nwith zipfile.ZipFile(b, 'w', 8) as z: z.writestr('a', bytes(10_000_000))\nzipfile.ZipFile(b).read('a') * 60",
    },
  ),
  ...table("ended", {
    "a dictionary that grows": "all = {}\nwhile True: all[len(all)] = str(len(all)) * 50",
    "a file that grows": "with open('f', 'wb') as f:\n    while True: f.write(bytes(10 ** 7))",
    "files in a folder": "i = 0\nwhile True:\n    i += 1\n    open(f'/tmp/{i}', 'wb').write(bytes(10 ** 6))",
  }),
];

const tooLarge = table(
  { error: "code_output_too_large" },
  {
    "a large text as the result": "'x' * 300_000",
    "a large list as the result": "list(range(100_000))",
    "a deep result": "a = 1\nfor _ in range(200): a = [a]\na",
  },
);

/** Calls that the interpreter lacks or refuses. */
const failing = table(
  { error: "code_error" },
  {
    "a recursion": "def f(): f()\nf()",
    "a circle as the result": "a = []\na.append(a)\na",
    "no program": "this is no program",
    "a program with NUL": "1\0 + 1",
    "code that nests": "eval('(' * 10000 + ')' * 10000)",
    "a large message": "raise Exception('x' * 10 ** 6)",
    "a large number as text": "str(10 ** 100000)",
    "a file of the system": "open('/etc/passwd').read()",
    "the process": "open('/proc/self/environ').read()",
    "its parent": "open('/proc/1/environ').read()",
    "a change of the input": "open('/input/new', 'w')",
    "a subprocess": "import subprocess\nsubprocess.run(['id'])",
    "a fork": "import os\nwhile True: os.fork()",
    "an exec": "import os\nos.execv('/bin/sh', ['sh'])",
    "a thread": "import threading\nthreading.Thread(target=print).start()",
    "a process pool": "import multiprocessing\nmultiprocessing.Process(target=print).start()",
    "a library of the system": "import ctypes\nctypes.CDLL('libc.so.6').system(b'id')",
    "an address": "import urllib.request\nurllib.request.urlopen('http://169.254.169.254/')",
    "an installer": "import micropip",
    "JavaScript's fetch": "import js\nawait js.fetch('http://127.0.0.1/')",
    "JavaScript's process": "import js\njs.process.env",
    "an end": "import sys\nsys.exit(7)",
    "an end at once": "import os\nos._exit(0)",
    "an abort": "import os\nos.abort()",
    "a segmentation fault": "import faulthandler\nfaulthandler._sigsegv()",
    "memory that is not there": "import ctypes\nctypes.string_at(0xfffffff0, 100)",
    "an endless stack outside":
      "from pyodide.ffi import create_proxy\nclass A:\n    def __getattr__(self, n): return getattr(self, n)\nA().x",
    "a pickle":
      "import pickle\nclass A:\n    def __reduce__(self): return (__import__('subprocess').run, (['id'],))\npickle.loads(pickle.dumps(A()))",
    input: "input()",
    "a file that is taken away": "import shutil\nshutil.rmtree('/output')\n",
    "a mount of the system": `import pyodide_js, os\npyodide_js.mountNodeFS('/system', '/etc')\nprint(os.listdir('/system'))\nopen('/system/passwd').read()`,
  },
);

const contained = (outside: Outside): Hostile[] => [
  ...table("harmless", {
    "a command": "import os\nos.system('touch /tmp/runnel-hostile')",
    "a pipe to a command": "import os\nos.popen('id').read()",
    "a socket": `import socket\ns = socket.socket()\ns.settimeout(1)\ns.connect(('127.0.0.1', ${outside.port}))\ns.send(b'x')`,
    "a datagram": `import socket\ns = socket.socket(type=socket.SOCK_DGRAM)\ns.sendto(b'x', ('127.0.0.1', ${outside.port}))`,
    "a listener": "import socket\ns = socket.socket()\ns.bind(('0.0.0.0', 0))\ns.listen()",
    HTTP: `import http.client\nc = http.client.HTTPConnection('127.0.0.1', ${outside.port}, timeout=1)\nc.request('GET', '/')\nc.getresponse()`,
    "a package from an address": `import pyodide_js\nawait pyodide_js.loadPackage('http://127.0.0.1:${outside.port}/a-1-py3-none-any.whl')`,
    "a package by its name": "import pyodide_js\nawait pyodide_js.loadPackage('numpy')",
    "a signal": `import os\nos.kill(${outside.parent}, 9)`,
    "a signal to itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "an alarm": "import signal\nsignal.alarm(1)",
    "a file elsewhere": `open('${file}', 'w').write('x')`,
    "odd names of files":
      "for n in ['a\\nb', '..\\\\x', ' ', '-rf', '\\x7f', 'ü' * 200, 'n' * 255]:\n    try: open('/output/' + n, 'w').write('x')\n    except OSError: pass",
    "folders and links":
      "import os\nos.makedirs('a/b')\nos.symlink('/lib', 'l')\nos.symlink('/input', 'm')\nos.symlink('n', 'n')",
    "many files": "for i in range(500): open(f'f{i}', 'w').write('x')",
    "large files": "for i in range(4): open(f'f{i}', 'wb').write(bytes(3_000_000))",
    "a file without rights": "import os\nopen('a', 'w').write('x')\nos.chmod('a', 0)\nos.chmod('/output', 0)",
    "a closed output": "import sys\nsys.stdout.close()\nsys.stderr.close()",
    "closed descriptors": "import os\nfor i in range(20):\n    try: os.close(i)\n    except OSError: pass",
    "broken builtins": "import builtins, json\njson.dumps = json.loads = None\nbuiltins.len = builtins.str = None\n1",
    "modules that are gone": "import sys\nsys.modules.clear()\n1",
    "an exit handler": "import atexit\natexit.register(lambda: [None for _ in iter(int, 1)])\n1",
    "a finalizer": "class A:\n    def __del__(self):\n        for _ in range(10 ** 6): pass\nA()\n1",
    "half characters": "'\\ud800'",
    "control characters": "print('\\x1b[2J\\x07\\0')\n'\\0'",
    "what looks like an answer": `import sys\nsys.stdout.buffer.write(b'\\x06\\0\\0\\0\\0{"error":null}')`,
    "an error that lies": "raise MemoryError('no')",
    "an interrupt that lies": "raise KeyboardInterrupt",
    "a class that lies": "class A(dict):\n    def items(self): raise SystemExit\nA(a=1)",
  }),
  ...table("ended", {
    "a driver that is gone": "import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\nf.f_globals.clear()\n1",
  }),
];

/** Programs that have broken out. */
const outside = ({ port }: Outside): Hostile[] => [
  ...escapes(
    { error: "code_timeout" },
    {
      "a loop outside": "for (;;);",
      "a search outside": "return new Array(2 ** 32 - 2).indexOf(1);",
    },
  ),
  ...escapes("ended", {
    // The promises may be collected in time or not.
    "promises outside": "const again = () => Promise.resolve().then(again); return again();",
    "buffers outside": "const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1));",
    "texts outside": "const all = []; for (let i = 0; ; i++) all.push(('x' + i).repeat(1e6).split('1'));",
    // The runtime waits for ever for the socket that it never gets.
    "a request": `return fetch('http://127.0.0.1:${port}/')`,
    "a request for the keys of a cloud": "return fetch('http://169.254.169.254/')",
  }),
  ...escapes("harmless", { "its environment": "return JSON.stringify(process.env)" }),
  // They use the threads that read files beside the program.
  ...escapes(
    { result: "EACCES" },
    {
      "the machine's mounts, by another thread":
        "return Promise.all([fs.promises.readFile('/proc/self/mounts'), Bun.file('/proc/self/net/route').text()]).catch(({ code }) => code)",
    },
  ),
  ...escapes("any", {
    "an answer of its own": `const end = Buffer.from('{"error":null}'); fs.writeSync(1, Buffer.concat([Buffer.of(4, 1, 0, 0, 0, 0x31, 6, end.length, 0, 0, 0), end]))`,
  }),
];

/**
 * Actions in the runtime around the interpreter that the operating system denies: they throw, and the process
 * continues.
 */
export const denied = ({ port, parent }: Outside): Record<string, string> => ({
  "a file of the system": "return fs.readFileSync('/etc/passwd', 'utf8')",
  "the root": "return fs.readdirSync('/').join()",
  "the environment of the parent": `return fs.readFileSync('/proc/${parent}/environ', 'utf8')`,
  "the memory of the parent": `return fs.openSync('/proc/${parent}/mem', 'r+')`,
  "a file outside": `fs.writeFileSync('${file}', 'x')`,
  "a folder outside": `fs.mkdirSync('${file}')`,
  "a link outside": `fs.symlinkSync('/etc', '${file}')`,
  "a removal": "fs.rmSync('/tmp', { recursive: true }); throw new Error('nothing was removed')",
  "a database outside": `const { Database } = get("bun:sqlite"); new Database('${file}').run('create table t (a)')`,
  "a command": "return Bun.spawnSync(['/usr/bin/id']).stdout.toString()",
  "a shell": "return get('child_process').execSync('id').toString()",
  "itself once more": "return Bun.spawnSync([process.execPath, 'version']).stdout.toString()",
  "a connection": `return Bun.connect({ hostname: '127.0.0.1', port: ${port}, socket: { data() {} } })`,
  "a listener": "Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } }).stop()",
  "a server": "Bun.serve({ port: 0, fetch: () => new Response('') }).stop()",
  "a datagram": `return Bun.udpSocket({ connect: { hostname: '127.0.0.1', port: ${port} }, socket: {} }).then((s) => s.send('x'))`,
  "the end of the parent": `process.kill(${parent}, 'SIGKILL')`,
  "the end of all": "process.kill(-1, 'SIGKILL')",
  "what the system tells of the machine": tried(
    "['self/net/tcp', 'self/net/dev', 'self/net/fib_trie', 'self/mountinfo', 'self/cgroup', 'self/limits', 'self/cmdline', 'meminfo']",
    "fs.readFileSync('/proc/' + each)",
  ),
  "what files there are": tried(
    "['statSync', 'accessSync', 'readlinkSync', 'readdirSync', 'realpathSync']",
    "fs[each]('/proc/self/exe')",
  ),
  "a call of the system": tried(
    "[get('bun:ffi'), Bun.FFI]",
    "each.dlopen('libc.so.6', { getppid: { args: [], returns: 'int' } }).symbols.getppid()",
  ),
  "memory by its address": tried("[get('bun:ffi'), Bun.FFI]", "each.read.u8(each.ptr(new Uint8Array(8)), 0)"),
  "a call of the system, by an import":
    "return import('bun:ffi').then(({ dlopen }) => dlopen('libc.so.6', { getppid: { args: [], returns: 'int' } }).symbols.getppid())",
});

/**
 * All of {@link denied} in one process, because each process takes a second to start. The result names those that
 * succeeded.
 */
const deniedAtOnce = (outside: Outside): Hostile => ({
  name: "what the system denies",
  expected: { result: "" },
  code: escaped(`return (async () => {
    const through = [];
    for (const [name, code] of ${JSON.stringify(Object.entries(denied(outside)))})
      await (async () => Function("get", "fs", code)(get, fs))().then(() => through.push(name), () => {});
    return through.join();
  })()`),
});

/** All programs but those that need an open interpreter. */
export const hostilePython = (outside: Outside): Hostile[] => [
  ...endless,
  ...memory,
  ...tooLarge,
  ...failing,
  ...contained(outside),
];

/** Programs for an open interpreter, without {@link breakingPython}: each leaves an answer. */
export const escapedPython = (beyond: Outside): Hostile[] => [
  deniedAtOnce(beyond), // First, because a suite that runs every eighth program begins with it.
  ...outside(beyond),
];

const realm = JSON.stringify("return typeof process");
const of = (object: string) => `from pyodide.ffi import *\nfrom pyodide.ffi import create_once_callable\n${object}`;

/**
 * All ways from a program to JavaScript, or to starting a process: each must fail with an error that Python can catch.
 */
const roads: Record<string, string> = {
  "the constructor of an array": of(`to_js([1]).constructor.constructor(${realm})()`),
  "the constructor of an object": of(`to_js({"a": 1}).constructor.constructor(${realm})()`),
  "a prototype": of(`to_js([1]).__proto__.map.constructor(${realm})()`),
  "an attribute by its name": of(`getattr(getattr(to_js([1]), "constructor"), "constructor")(${realm})()`),
  "a method": of(`to_js([1]).map.constructor(${realm})()`),
  "a subscript": of(`to_js({"a": 1})["a"]`),
  "an item": of("to_js([1])[0]"),
  "an iteration": of("[item for item in to_js([1])]"),
  "the entries of an object": of("to_js([1]).object_entries()"),
  "the names in an object": of("dir(to_js([1]))"),
  "the text of an object": of("str(to_js([1]))"),
  "a conversion back": of("to_js([[1]]).to_py()"),
  "a change of an object": of("to_js([1]).a = 1"),
  "a deletion in an object": of("del to_js([1]).length"),
  "a new object": of("to_js([1]).new()"),
  "bytes of an object": of(`to_js(b"abc").to_bytes()`),
  "a proxy of a function": of(`create_proxy(lambda: 1).apply.constructor(${realm})()`),
  "a function that is called once": of(`create_once_callable(lambda: 1).constructor(${realm})()`),
  "a call of such a function": of("create_once_callable(lambda: 1)()"),
  "a converter": of(
    `class A: pass\ndef convert(value, convert, cache):\n    return convert.constructor(${realm})()\nto_js(A(), default_converter=convert)`,
  ),
  "a converter of dictionaries": of(
    `to_js({1: 2}, dict_converter=lambda entries: entries.constructor.constructor(${realm})())`,
  ),
  "an error": of(`
try:
    to_js([1]).at.call(None)
except Exception as error:
    value = error.js_error.constructor.constructor(${realm})()
value`),
  "an error that is made": of(`JsException("Error", "message", "stack").constructor.constructor(${realm})()`),
  "a promise": of(
    `import asyncio\nto_js(asyncio.get_running_loop().create_future())\nawait to_js([1]).then(lambda value: value)`,
  ),
  "the loop of events": `import pyodide.webloop\npyodide.webloop.scheduleCallback.constructor(${realm})()`,
  "a module by its finder":
    "from _pyodide._importhook import jsfinder\njsfinder.jsproxies['pyodide_js'].runPython('1')",
  "a module that is registered": of(
    "import sys\nfrom _pyodide._importhook import jsfinder\nsys.meta_path.append(jsfinder)\nfrom js import process",
  ),
  "the interpreter's own modules":
    "import sys\nfrom _pyodide._importhook import jsfinder\nsys.meta_path.append(jsfinder)\nfrom pyodide_js import _module",
  "all objects of the garbage collector": `
import gc
from pyodide.ffi import JsProxy
found = [value for held in gc.get_objects() if isinstance(held, dict) for value in held.values() if isinstance(value, JsProxy)]
found[0].constructor.constructor(${realm})()`,
  "the core": `import _pyodide_core\n_pyodide_core.to_js([1]).constructor.constructor(${realm})()`,
  "a script": `from pyodide.code import run_js\nrun_js("typeof process")`,
  "a function of the machine by its name":
    "import ctypes\nrun = ctypes.CDLL(None).emscripten_run_script_string\nrun.restype = ctypes.c_char_p\nrun(b'typeof process').decode()",
  "a function of Python's own": "import ctypes\nctypes.pythonapi.emscripten_run_script_int(b'1 + 41')",
  "a library": `open("/output/a.so", "wb").write(b"\\0asm\\1\\0\\0\\0")\nimport ctypes\nctypes.CDLL("/output/a.so")`,
  "a module of WebAssembly": `
import importlib.machinery, importlib.util
open("/output/a.so", "wb").write(b"\\0asm\\1\\0\\0\\0")
loader = importlib.machinery.ExtensionFileLoader("a", "/output/a.so")
importlib.util.module_from_spec(importlib.util.spec_from_loader("a", loader))`,
  "a command": "import os\nif os.system('true') != 0: raise OSError",
};

/** Program that tries all of them; its result is the names of those that succeeded. */
export const programOfRoads = `
import json
from pyodide.code import eval_code_async
through = []
for name, code in json.loads(${JSON.stringify(JSON.stringify(roads))}).items():
    try:
        await eval_code_async(code, {})
        through.append(name)
    except Exception: pass
through`;

/**
 * Programs for an open interpreter that end the process or write in its place: their result is an error, which may be
 * the sandbox's own.
 */
export const breakingPython: Hostile[] = escapes("harmless", {
  "an end of the process": "process.exit(0)",
  "an abort of the process": "process.abort()",
  "a kill of itself": "process.kill(process.pid, 'SIGKILL')",
  "noise in the answer": "fs.writeSync(1, 'noise'.repeat(1000))",
  "a packet that is too long":
    "fs.writeSync(1, Buffer.of(6, 255, 255, 255, 255)); for (;;) fs.writeSync(1, Buffer.alloc(65536))",
  "a second start": "fs.writeSync(1, Buffer.of(1, 0, 0, 0, 0))",
  "a file with a path in the answer":
    "fs.writeSync(1, Buffer.concat([Buffer.of(5, 6, 0, 0, 0, 4), Buffer.from('/a/bx')]))",
  "a closed pipe": "fs.closeSync(1)",
  "a call of the system":
    "const { dlopen } = get('bun:ffi'); const c = dlopen('libc.so.6', { fork: { args: [], returns: 'int' }, socket: { args: ['int', 'int', 'int'], returns: 'int' } }).symbols; return [c.fork(), c.socket(2, 1, 0)].join()",
});

/** Returns the few most different programs, for a test that must be short. */
export const someOf = (programs: readonly Hostile[], names: readonly string[]): Hostile[] =>
  names.map((name) => {
    const found = programs.find((hostile) => hostile.name === name);
    if (!found) throw new Error(`No hostile program is called ${name}.`);
    return found;
  });
