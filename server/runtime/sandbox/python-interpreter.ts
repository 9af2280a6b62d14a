import { join } from "node:path";
import { loadPyodide, type PyodideAPI } from "pyodide";
import { requireValue } from "../../lib/require-value.ts";
import { gateFunctions } from "./python-realm.ts";

interface InterpreterFiles {
  wasm: Uint8Array;
  /** Folder of the standard library and the script for `wasm`. */
  folder: string;
  /** Memory of a started interpreter; null to create one with {@link takeSnapshot}. */
  snapshot: Uint8Array | null;
}

/** Emscripten's file system, as far as programs need it. Its own types depend on those of other packages. */
interface FileSystem {
  chdir(path: string): void;
  chmod(path: string, mode: number): void;
  isDir(mode: number): boolean;
  isFile(mode: number): boolean;
  lstat(path: string): { mode: number; size: number };
  mkdir(path: string): void;
  mkdirTree(path: string): void;
  readFile(path: string): Uint8Array<ArrayBuffer>;
  readdir(path: string): string[];
  symlink(target: string, path: string): void;
  writeFile(path: string, bytes: Uint8Array, options?: { canOwn: boolean }): void;
}

export type Interpreter = Omit<PyodideAPI, "FS"> & {
  FS: FileSystem;
  _module: { memory: WebAssembly.Memory };
  /** Resolves when the interpreter can no longer run: the program has ended or broken it. */
  failure: Promise<unknown>;
  /** Permanently cuts Python off from the JavaScript around it. */
  closeRealm(): void;
};

/**
 * Starts CPython in WebAssembly. It has no access to the host's names and folders, but it is no jail and must run in
 * one.
 */
export async function startInterpreter({ wasm, folder, snapshot }: InterpreterFiles): Promise<Interpreter> {
  // Imported by path at run time, because bundled into the executable it would take several times its size.
  const { default: create } = await import(join(folder, "pyodide.asm.mjs"));
  let gates: ReturnType<typeof gateFunctions> | undefined;
  const gated = (imports: Imports, thrown: symbol) => {
    gates = gateFunctions(imports.env, thrown);
  };
  const options = {
    indexURL: folder,
    stdLibURL: `${folder}/python_stdlib.zip`,
    // An index without packages: nothing beyond the standard library exists, and none is searched for.
    lockFileContents: { info: lockInfo, packages: {} },
    packageBaseUrl: "/nowhere/",
    createPyodideModule: (settings: object) => create({ ...settings, instantiateWasm: instantiate(wasm, gated) }),
    jsglobals: Object.create(null),
    stdin: () => null,
    // Otherwise every program could read the path of the script that made the snapshot.
    _sysExecutable: "/usr/bin/python",
    env: { HOME: "/home", TZ: "UTC", _: "/usr/bin/python" },
    ...(snapshot ? { _loadSnapshot: snapshot } : { _makeSnapshot: true }),
  };
  const python = (await loadPyodide(options as object)) as PyodideAPI & {
    _api: { on_fatal?: (error: unknown) => void; scheduleCallback: unknown };
  };
  const { promise: failure, resolve } = Promise.withResolvers<unknown>();
  python._api.on_fatal = resolve;
  // The event loop calls its callbacks through this function.
  const closeRealm = () => requireValue(gates, "The gates").close([python._api.scheduleCallback]);
  return Object.assign(python, { failure, closeRealm }) as unknown as Interpreter;
}

/** Returns the memory of an interpreter that was started without a snapshot. */
export function takeSnapshot(interpreter: Interpreter): Uint8Array {
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

/** Instantiates the interpreter from memory, where it was decompressed, instead of from a file. */
const instantiate =
  (wasm: Uint8Array, gate: (imports: Imports, thrown: symbol) => void) =>
  (imports: Imports, done: (instance: WebAssembly.Instance, module: object) => void) => {
    // Value by which the interpreter recognizes that a call into JavaScript has thrown.
    const thrown = Symbol("thrown");
    imports.env.Jsv_GetError_import = () => thrown;
    imports.env.JsvError_Check = (value: unknown) => value === thrown;
    gate(imports, thrown);
    const compiled = WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>);
    void compiled.then((module) => done(new WebAssembly.Instance(module, imports as never), module));
    return {};
  };
