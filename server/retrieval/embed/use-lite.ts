import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { type GraphModel, loadGraphModel } from "@tensorflow/tfjs-converter";
import * as tf from "@tensorflow/tfjs-core";
import { Tokenizer } from "@tensorflow-models/universal-sentence-encoder";
import { type EmbeddingFiles, embeddingFiles } from "../../lib/assets.ts";
import { unitVector } from "../../lib/unit-vector.ts";
import { foreignWords } from "./foreign-words.ts";

/** The model takes no more in at once; what is behind it would be dropped. */
const window_tokens = 128;
/** What is read of one text. Ordinary ones of the size that callers give are below; hostile ones have a token a letter. */
const read_tokens = 2 * window_tokens;
// The tokenizer's time grows with the square of this.
const tokenized_chars = 1024;
const batch_tokens = 1024;

/** What stands for a text without any token: the tokenizer's word for "unknown". */
const nothing = [0];

/** Loads the model. Only for a thread of its own: it takes 200 MB, and each call blocks. */
export async function loadUseLite() {
  const files = embeddingFiles();
  await startRuntime(files);
  const { modelTopology, weightsManifest } = (await Bun.file(files.graph).json()) as Graph;
  const model = await loadGraphModel(
    tf.io.fromMemory({
      modelTopology,
      weightSpecs: weightsManifest.flatMap(({ weights }) => weights),
      weightData: await joined(files.weights),
    }),
  );
  const tokenizer = new Tokenizer(await Bun.file(files.vocabulary).json());

  /** A unit vector for each text; of what the model cannot read, by hashes. */
  return async (texts: readonly string[]): Promise<Float32Array[]> => {
    const plain = texts.map((text) => text.normalize("NFKC").slice(0, tokenized_chars));
    const windows = plain.flatMap((text, of) =>
      windowsOf(tokenizer.encode(text).slice(0, read_tokens)).map((tokens) => ({ of, tokens })),
    );
    const sums = plain.map(() => new Float32Array(dimensions));
    for (const batch of batchesOf(windows)) {
      const vectors = await run(
        model,
        batch.map(({ tokens }) => tokens),
      );
      batch.forEach(({ of, tokens }, index) => {
        addTo(sums[of]!, vectors.subarray(index * dimensions, (index + 1) * dimensions), tokens.length);
      });
    }
    return sums.map((sum, index) => withForeignWords(sum, plain[index]!));
  };
}

const dimensions = 512;

interface Graph {
  modelTopology: tf.io.ModelJSON["modelTopology"];
  weightsManifest: tf.io.WeightsManifestConfig;
}

/** The library knows browsers and Node.js, and finds neither in a thread of the executable. */
async function startRuntime({ wasm, wasmSimd }: EmbeddingFiles): Promise<void> {
  tf.enableProdMode();
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  tf.setPlatform("bun", {
    fetch: async (path: string) => new Response(Bun.file(path)),
    now: () => performance.now(),
    encode: (text: string) => encoder.encode(text),
    decode: (bytes: Uint8Array) => decoder.decode(bytes),
    setTimeoutCustom: (callback: () => void, ms: number) => void setTimeout(callback, ms),
    isTypedArray: (value: unknown): value is Float32Array => ArrayBuffer.isView(value) && !(value instanceof DataView),
  } as never);
  setWasmPaths({
    "tfjs-backend-wasm.wasm": wasm,
    "tfjs-backend-wasm-simd.wasm": wasmSimd,
    "tfjs-backend-wasm-threaded-simd.wasm": wasmSimd,
  });
  if (!(await tf.setBackend("wasm"))) throw new Error("The embedding model's runtime did not start.");
}

async function joined(paths: readonly string[]): Promise<ArrayBuffer> {
  return await new Blob(await Promise.all(paths.map((path) => Bun.file(path).bytes()))).arrayBuffer();
}

function windowsOf(tokens: number[]): number[][] {
  if (tokens.length === 0) return [nothing];
  const size = Math.ceil(tokens.length / Math.ceil(tokens.length / window_tokens));
  return Array.from({ length: Math.ceil(tokens.length / size) }, (_, at) => tokens.slice(at * size, (at + 1) * size));
}

/** Groups of like length, since the model fills all of a group up to its longest. */
function batchesOf<T extends { tokens: number[] }>(windows: readonly T[]): T[][] {
  const batches: T[][] = [];
  for (const window of windows.toSorted((a, b) => b.tokens.length - a.tokens.length)) {
    const last = batches.at(-1);
    if (last && (last.length + 1) * last[0]!.tokens.length <= batch_tokens) last.push(window);
    else batches.push([window]);
  }
  return batches;
}

async function run(model: GraphModel, batch: readonly number[][]): Promise<Float32Array> {
  const places = batch.flatMap((tokens, row) => tokens.map((_, column) => [row, column]));
  const indices = tf.tensor2d(places, [places.length, 2], "int32");
  const values = tf.tensor1d(batch.flat(), "int32");
  try {
    const output = (await model.executeAsync({ indices, values })) as tf.Tensor;
    const vectors = (await output.data()) as Float32Array;
    output.dispose();
    return vectors;
  } finally {
    indices.dispose();
    values.dispose();
  }
}

function addTo(sum: Float32Array, vector: Float32Array, weight: number): void {
  for (let index = 0; index < sum.length; index++) sum[index]! += vector[index]! * weight;
}

function withForeignWords(sum: Float32Array, text: string): Float32Array {
  const known = unitVector(sum);
  if (!known) throw new Error("The embedding model gave no vector.");
  const { share, vector } = foreignWords(text, dimensions);
  const foreign = unitVector(vector);
  if (!foreign) return known;
  return unitVector(known.map((value, index) => (1 - share) * value + share * foreign[index]!)) ?? known;
}
