import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import * as onnx from "onnxruntime-web/wasm";
import { sentenceModelDir } from "../../lib/assets.ts";
import { builtInModels } from "./models.ts";
import { byWindows } from "./windows.ts";

/**
 * Loads the model of the kind of sentence-transformers: BERT's inputs, a vector for each token, whose mean is the text's.
 * Only for a thread of its own: it takes 200 MB, and each call blocks.
 */
export async function loadMiniLm() {
  const folder = sentenceModelDir();
  if (folder === null) throw new Error("This build has no sentence model.");
  const { dimensions } = builtInModels["builtin/all-minilm-l6-v2"];
  const file = (name: string) => Bun.file(join(folder, name));
  onnx.env.wasm.numThreads = 1;
  const runtime = await Bun.zstdDecompress(await file("onnxruntime.wasm.zst").bytes());
  onnx.env.wasm.wasmBinary = new Uint8Array(runtime).buffer;
  const session = await onnx.InferenceSession.create(await file("model.onnx").bytes(), {
    executionProviders: ["wasm"],
    // "all" changes the layout of data, for which this takes longer to load.
    graphOptimizationLevel: "extended",
  });
  const tokenizer = new Tokenizer(await file("tokenizer.json").json(), {});

  async function run([tokens]: readonly number[][]): Promise<Float32Array> {
    const tensor = (value: (token: number) => number) =>
      new onnx.Tensor(
        "int64",
        BigInt64Array.from(tokens!, (token) => BigInt(value(token))),
        [1, tokens!.length],
      );
    const output = await session.run({
      input_ids: tensor((token) => token),
      attention_mask: tensor(() => 1),
      token_type_ids: tensor(() => 0),
    });
    const states = output[session.outputNames[0]!]!;
    try {
      return meanOf((await states.getData()) as Float32Array, dimensions);
    } finally {
      states.dispose();
    }
  }

  return byWindows({
    ...{ dimensions, window_tokens: 256 },
    // It computes in int8 by the largest value of a call: beside another, a text would have another vector.
    batch_tokens: 0,
    tokensOf: (text) => tokenizer.encode(text).ids,
    run,
  });
}

/** The mean of the tokens' vectors, which stand one after the other. */
function meanOf(states: Float32Array, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  for (let at = 0; at < states.length; at++) mean[at % dimensions]! += states[at]!;
  return mean.map((value) => (value * dimensions) / states.length);
}
