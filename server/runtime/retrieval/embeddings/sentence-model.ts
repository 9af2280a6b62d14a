import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import * as onnx from "onnxruntime-web/wasm";
import { sentenceModelDir } from "../../../lib/assets.ts";
import { addScaled } from "../../../lib/unit-vector.ts";
import { builtInModels } from "./models.ts";
import type { OwnModel } from "./own-models.ts";
import { createWindowEmbedder } from "./windows.ts";

/** Loads the MiniLM model of this build. Must run in a thread of its own: it takes 200 MB, and each call blocks. */
export async function loadMiniLm() {
  const folder = sentenceModelDir();
  if (folder === null) throw new Error("This build has no sentence model.");
  const { dimensions } = builtInModels["builtin/all-minilm-l6-v2"];
  const { tokensOf, run } = await load(folder);
  return createWindowEmbedder({ ...common, dimensions, window_tokens: 256, hashes_words: true, tokensOf, run });
}

/** Loads a model added by the operator. A test call determines the length of its vectors. */
export async function loadOwn({ folder, window_tokens }: OwnModel) {
  const { tokensOf, run } = await load(folder);
  const { length: dimensions } = await run([tokensOf("dimensions")]);
  return createWindowEmbedder({ ...common, dimensions, window_tokens, hashes_words: false, tokensOf, run });
}

// No batches: int8 models scale by the largest value of a call, so a text's vector would depend on its neighbours.
const common = { batch_tokens: 0 };

/**
 * Opens a sentence-transformers model: BERT's inputs; the output is either one vector per text, or one per token, whose
 * mean is used.
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
    // "all" changes the data layout, which takes longer to load here.
    graphOptimizationLevel: "extended",
  });
  const unknown = session.inputNames.filter((name) => !Object.hasOwn(inputs, name));
  if (unknown.length > 0) throw new Error(`It asks for other inputs than a sentence model: ${unknown.join(", ")}.`);
  const output = [...outputNames, ...session.outputNames].find((name) => session.outputNames.includes(name)) ?? "";
  const tokenizer = new Tokenizer(await Bun.file(join(folder, "tokenizer.json")).json(), {});

  async function run([tokens = []]: readonly number[][]): Promise<Float32Array> {
    const tensor = (value: (token: number) => number) =>
      new onnx.Tensor(
        "int64",
        BigInt64Array.from(tokens, (token) => BigInt(value(token))),
        [1, tokens.length],
      );
    const given = Object.fromEntries(
      session.inputNames.map((name) => [name, tensor(inputs[name as keyof typeof inputs])]),
    );
    const { [output]: found } = await session.run(given, [output]);
    if (!found) throw new Error("It has no output.");
    try {
      return vectorOf((await found.getData()) as Float32Array, found.dims, tokens.length);
    } finally {
      found.dispose();
    }
  }

  return { run, tokensOf: (text: string) => tokenizer.encode(text).ids };
}

/** BERT's inputs for each token. */
const inputs = { input_ids: (token: number) => token, attention_mask: () => 1, token_type_ids: () => 0 };
/** Output names by preference: the text's vector, else those of its tokens. */
const outputNames = ["sentence_embedding", "last_hidden_state"];

function vectorOf(values: Float32Array, dims: readonly number[], tokens: number): Float32Array {
  const isOne = dims.length === 2 && dims[0] === 1;
  const isEach = dims.length === 3 && dims[0] === 1 && dims[1] === tokens;
  if (!(values instanceof Float32Array) || !(isOne || isEach))
    throw new Error(`Its output is neither a vector for a text nor one for each token: ${dims.join(" × ")}.`);
  return isOne ? values.slice() : meanOf(values, tokens);
}

/** Returns the mean of the tokens' vectors, which are concatenated in `states`. */
function meanOf(states: Float32Array, tokens: number): Float32Array {
  const dimensions = states.length / tokens;
  const mean = new Float32Array(dimensions);
  for (let at = 0; at < states.length; at += dimensions) addScaled(mean, states.subarray(at, at + dimensions), 1);
  return mean.map((value) => value / tokens);
}
