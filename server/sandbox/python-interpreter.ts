import { join } from "node:path";
import { loadPyodide, type PyodideAPI } from "pyodide";
import { gateRoads } from "./python-realm.ts";

interface InterpreterFiles {
  wasm: Uint8Array;
  /** Where the standard library and the script around `wasm` are. */
  folder: string;
  /** The memory of an interpreter that has started; null: this one is to be pictured by {@link pictureOf}. */
  snapshot: Uint8Array | null;
}

export type Interpreter = PyodideAPI & {
  _module: { memory: WebAssembly.Memory };
  /** Comes when nothing can run in it any more: the program ended all of it, or broke it. */
  failure: Promise<unknown>;
  /** Keeps Python from the JavaScript around it, for good. */
  closeRealm(): void;
};

/** CPython in WebAssembly. It names no host and no folder of the machine, but it is no jail: it runs in one. */
export async function startInterpreter({ wasm, folder, snapshot }: InterpreterFiles): Promise<Interpreter> {
  // By its path at run time: compiled into the executable with the rest, it would take up many times its size.
  const { default: create } = await import(join(folder, "pyodide.asm.mjs"));
  let gates: ReturnType<typeof gateRoads> | undefined;
  const gated = (imports: Imports, thrown: symbol) => {
    gates = gateRoads(imports.env, thrown);
  };
  const options = {
    indexURL: folder,
    stdLibURL: `${folder}/python_stdlib.zip`,
    // An index without packages: what the standard library lacks is not there, and nothing looks for it elsewhere.
    lockFileContents: { info: lockInfo, packages: {} },
    packageBaseUrl: "/nowhere/",
    createPyodideModule: (settings: object) => create({ ...settings, instantiateWasm: instantiate(wasm, gated) }),
    jsglobals: Object.create(null),
    stdin: () => null,
    // Otherwise the path of the script that took the picture would be in it, for every program to read.
    _sysExecutable: "/usr/bin/python",
    env: { HOME: "/home", TZ: "UTC", _: "/usr/bin/python" },
    ...(snapshot ? { _loadSnapshot: snapshot } : { _makeSnapshot: true }),
  };
  const python = (await loadPyodide(options as object)) as PyodideAPI & {
    _api: { on_fatal?: (error: unknown) => void; scheduleCallback: unknown };
  };
  const { promise: failure, resolve } = Promise.withResolvers<unknown>();
  python._api.on_fatal = resolve;
  // The loop of events has its callbacks called by it.
  const closeRealm = () => gates!.close([python._api.scheduleCallback]);
  return Object.assign(python, { failure, closeRealm }) as unknown as Interpreter;
}

/** The memory of an interpreter that was started without a snapshot. */
export function pictureOf(interpreter: Interpreter): Uint8Array {
  return (interpreter as Interpreter & { makeMemorySnapshot(): Uint8Array }).makeMemorySnapshot();
}

const lockInfo = {
  abi_version: "2026_0",
  arch: "wasm32",
  platform: "emscripten_5_0_3",
  python: "3.14.2",
  version: "314.0.7",
};

type Imports = { env: Record<string, unknown> } & Record<string, Record<string, unknown>>;

/** The interpreter comes out of memory, compressed as it lies in the executable, and not from a file. */
const instantiate =
  (wasm: Uint8Array, gate: (imports: Imports, thrown: symbol) => void) =>
  (imports: Imports, done: (instance: WebAssembly.Instance, module: object) => void) => {
    // How the interpreter knows that a call into JavaScript has thrown.
    const thrown = Symbol("thrown");
    imports.env.Jsv_GetError_import = () => thrown;
    imports.env.JsvError_Check = (value: unknown) => value === thrown;
    gate(imports, thrown);
    const compiled = WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>);
    void compiled.then((module) => done(new WebAssembly.Instance(module, imports as never), module));
    return {};
  };
