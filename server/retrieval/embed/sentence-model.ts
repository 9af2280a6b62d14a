import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import * as onnx from "onnxruntime-web/wasm";
import { sentenceModelDir } from "../../lib/assets.ts";
import { builtInModels } from "./models.ts";
import type { OwnModel } from "./own-models.ts";
import { byWindows } from "./windows.ts";

/**
 * Loads the model of the build. Only for a thread of its own, as all of them: it takes 200 MB, and each call blocks.
 */
export async function loadMiniLm() {
  const folder = sentenceModelDir();
  if (folder === null) throw new Error("This build has no sentence model.");
  const { dimensions } = builtInModels["builtin/all-minilm-l6-v2"];
  const { tokensOf, run } = await load(folder);
  return byWindows({ ...common, dimensions, window_tokens: 256, hashes_words: true, tokensOf, run });
}

/** Loads a model that the operator added, whose vectors' length is the one that it gives. */
export async function loadOwn({ folder, window_tokens }: OwnModel) {
  const { tokensOf, run } = await load(folder);
  const { length: dimensions } = await run([tokensOf("dimensions")]);
  return byWindows({ ...common, dimensions, window_tokens, hashes_words: false, tokensOf, run });
}

// Models in int8 compute by the largest value of a call: beside another, a text would have another vector.
const common = { batch_tokens: 0 };

/**
 * Opens a model of the kind of sentence-transformers: BERT's inputs, and either a vector for the text or one for each
 * token, whose mean is the text's.
 */
async function load(folder: string) {
  const runtimeFolder = sentenceModelDir();
  if (runtimeFolder === null)
    throw new Error("This build has no runtime for such models: it is lean, or was made without PyPI.");
  onnx.env.wasm.numThreads = 1;
  const runtime = await Bun.zstdDecompress(await Bun.file(join(runtimeFolder, "onnxruntime.wasm.zst")).bytes());
  onnx.env.wasm.wasmBinary = new Uint8Array(runtime).buffer;
  const session = await onnx.InferenceSession.create(await Bun.file(join(folder, "model.onnx")).bytes(), {
    executionProviders: ["wasm"],
    // "all" changes the layout of data, for which this takes longer to load.
    graphOptimizationLevel: "extended",
  });
  const unknown = session.inputNames.filter((name) => !Object.hasOwn(inputs, name));
  if (unknown.length > 0) throw new Error(`It asks for other inputs than a sentence model: ${unknown.join(", ")}.`);
  const output = outputNames.find((name) => session.outputNames.includes(name)) ?? session.outputNames[0]!;
  const tokenizer = new Tokenizer(await Bun.file(join(folder, "tokenizer.json")).json(), {});

  async function run([tokens]: readonly number[][]): Promise<Float32Array> {
    const tensor = (value: (token: number) => number) =>
      new onnx.Tensor(
        "int64",
        BigInt64Array.from(tokens!, (token) => BigInt(value(token))),
        [1, tokens!.length],
      );
    const given = Object.fromEntries(
      session.inputNames.map((name) => [name, tensor(inputs[name as keyof typeof inputs])]),
    );
    const found = (await session.run(given, [output]))[output]!;
    try {
      return vectorOf((await found.getData()) as Float32Array, found.dims, tokens!.length);
    } finally {
      found.dispose();
    }
  }

  return { run, tokensOf: (text: string) => tokenizer.encode(text).ids };
}

/** What BERT is given for each token. */
const inputs = { input_ids: (token: number) => token, attention_mask: () => 1, token_type_ids: () => 0 };
/** A text's own vector before those of its tokens. */
const outputNames = ["sentence_embedding", "last_hidden_state"];

function vectorOf(values: Float32Array, dims: readonly number[], tokens: number): Float32Array {
  const dimensions = dims.at(-1)!;
  const isOne = dims.length === 2 && dims[0] === 1;
  const isEach = dims.length === 3 && dims[0] === 1 && dims[1] === tokens;
  if (!(values instanceof Float32Array) || !(isOne || isEach))
    throw new Error(`Its output is neither a vector for a text nor one for each token: ${dims.join(" × ")}.`);
  return isOne ? values.slice() : meanOf(values, dimensions);
}

/** The mean of the tokens' vectors, which stand one after the other. */
function meanOf(states: Float32Array, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  for (let at = 0; at < states.length; at++) mean[at % dimensions]! += states[at]!;
  return mean.map((value) => (value * dimensions) / states.length);
}
