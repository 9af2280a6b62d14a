import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { type GraphModel, loadGraphModel } from "@tensorflow/tfjs-converter";
import * as tf from "@tensorflow/tfjs-core";
import { Tokenizer } from "@tensorflow-models/universal-sentence-encoder";
import { type EmbeddingFiles, embeddingFiles } from "../../../lib/assets.ts";
import { builtInModels } from "./models.ts";
import { createWindowEmbedder } from "./windows.ts";

/** Token for a text without any: the tokenizer's "unknown". */
const nothing = [0];

/** Loads the model. Must run in a thread of its own: it takes 200 MB, and each call blocks. */
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

  return createWindowEmbedder({
    dimensions: builtInModels["builtin/use-lite-512"].dimensions,
    window_tokens: 128,
    batch_tokens: 1024,
    hashes_words: true,
    tokensOf(text) {
      const tokens = tokenizer.encode(text);
      return tokens.length === 0 ? nothing : tokens;
    },
    run: (windows) => run(model, windows),
  });
}

interface Graph {
  modelTopology: tf.io.ModelJSON["modelTopology"];
  weightsManifest: tf.io.WeightsManifestConfig;
}

/**
 * Starts tfjs with an explicit WASM file: it detects browsers and Node.js, but neither in a thread of the executable.
 */
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
