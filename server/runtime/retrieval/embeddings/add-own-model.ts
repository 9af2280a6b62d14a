import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Log } from "../../../lib/log.ts";
import { EmbeddingThread } from "./built-in.ts";
import { type OwnModel, ownModelName } from "./own-models.ts";

const files = { "model.onnx": 2 ** 30, "tokenizer.json": 64 * 2 ** 20 };
const most = { window_tokens: 8192, dimensions: 4096, prefix_chars: 100 };

interface Given {
  name: string;
  /** Folder with `model.onnx` and `tokenizer.json`. */
  from: string;
  window_tokens: number;
  prefix: string;
  query_prefix: string;
}

/**
 * Copies a model into the folder beside the database and tests it in the embedding thread. If the model is unusable,
 * throws an Error that says why, and removes the copy.
 */
export async function addOwnModel(folder: string, { name, from, ...settings }: Given, log: Log): Promise<OwnModel> {
  requireShape({ name, ...settings });
  requireFiles(from);
  const target = join(folder, name);
  if (existsSync(target)) throw new Error("There is a model of this name: remove it first.");
  const temporaryFolder = join(folder, `.${name}.${process.pid}`);
  try {
    mkdirSync(temporaryFolder, { recursive: true, mode: 0o700 });
    for (const file of Object.keys(files)) copyFileSync(join(from, file), join(temporaryFolder, file));
    const dimensions = await dimensionsOf({ folder: temporaryFolder, dimensions: 0, ...settings }, log);
    writeFileSync(join(temporaryFolder, "embedder.json"), JSON.stringify({ dimensions, ...settings }));
    renameSync(temporaryFolder, target);
    return { folder: target, dimensions, ...settings };
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

function requireShape({ name, window_tokens, prefix, query_prefix }: Omit<Given, "from">): void {
  if (!ownModelName.test(name))
    throw new Error("A name has up to 64 small letters, digits, dots, hyphens and underscores.");
  if (!Number.isInteger(window_tokens) || window_tokens < 8 || window_tokens > most.window_tokens)
    throw new Error(`A model reads 8 to ${most.window_tokens} tokens at once.`);
  if (Math.max(prefix.length, query_prefix.length) > most.prefix_chars)
    throw new Error(`A prefix has at most ${most.prefix_chars} characters.`);
}

function requireFiles(from: string): void {
  for (const [file, bytes] of Object.entries(files)) {
    const path = join(from, file);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) throw new Error(`${path} is missing: a model is ONNX in one file, and its tokenizer.`);
    if (found.size > bytes) throw new Error(`${path} has more than ${bytes / 2 ** 20} MB.`);
  }
  try {
    JSON.parse(readFileSync(join(from, "tokenizer.json"), "utf8"));
  } catch {
    throw new Error(`${join(from, "tokenizer.json")} is not JSON.`);
  }
}

/**
 * Returns the length of the model's vectors. Throws if different texts get the same vector, or the same text different
 * ones.
 */
async function dimensionsOf(own: OwnModel, log: Log): Promise<number> {
  const thread = new EmbeddingThread({ log });
  try {
    const [one = none, other = none, again = none] = await thread.embed(own, [
      "The harbour is closed in winter.",
      "Invoices are paid within thirty days.",
      "The harbour is closed in winter.",
    ]);
    if (one.length > most.dimensions) throw new Error(`Its vectors have more than ${most.dimensions} dimensions.`);
    if (distance(one, again) > 1e-3) throw new Error("It gives the same text another vector each time.");
    if (distance(one, other) < 1e-6) throw new Error("It gives every text the same vector.");
    return one.length;
  } finally {
    thread.stop();
  }
}

const none = new Float32Array();

/** Returns the largest difference in one dimension. */
const distance = (a: Float32Array, b: Float32Array): number =>
  Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? 0))));
