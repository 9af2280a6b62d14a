import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { vecLibrary } from "../../server/lib/assets.ts";
import { silentLog } from "../../server/lib/log.ts";
import { addOwnModel } from "../../server/runtime/retrieval/embeddings/add-own-model.ts";
import { createEmbedders } from "../../server/runtime/retrieval/embeddings/embedder.ts";
import { availableModels } from "../../server/runtime/retrieval/embeddings/models.ts";
import type { SearchMode } from "../../server/runtime/retrieval/vector-search/passages.ts";
import { createSearcher } from "../../server/runtime/retrieval/vector-search/searcher.ts";
import { openDatabase } from "../../server/storage/db/open.ts";
import { createMemoryStore, searchOrder } from "../../server/testing/memory-store.ts";
import { inProject } from "../root.ts";
import {
  type Corpus,
  declarations,
  docstrings,
  documentation,
  madeUp,
  mistyped,
  otherLanguages,
  packageDescriptions,
  translations,
} from "./retrieval-sets.ts";

const methods = ["keyword", "vector", "hybrid"] as const satisfies SearchMode[];

// "npm run multilingual-model" creates it; it is compared if it exists.
const multilingual = inProject("dist/multilingual-e5-small");
const folder = mkdtempSync(join(tmpdir(), "embedders-"));
const own = existsSync(multilingual)
  ? await addOwnModel(
      folder,
      {
        name: "multilingual-e5-small",
        from: multilingual,
        window_tokens: 512,
        prefix: "passage: ",
        query_prefix: "query: ",
      },
      silentLog,
    )
  : null;
const models = [...availableModels, ...(own ? ["local/multilingual-e5-small"] : [])];

const embedders = createEmbedders({
  log: silentLog,
  folder,
  resolve() {
    throw new Error("Only the built-in models are compared.");
  },
});
/** Reads a user's file with `docs: string[]` and `queries: [text, passage, kind][]`. */
async function readCorpusFile(path: string): Promise<Corpus> {
  const { docs, queries } = (await import(resolve(path))) as { docs: string[]; queries: [string, number, string][] };
  return { name: path, passages: docs, questions: queries.map(([text, passage, kind]) => ({ text, passage, kind })) };
}

/** Creates a store with a corpus, searched in the same way as by a server. */
function storeOf(passages: readonly string[], vectors: readonly Float32Array[]) {
  const { sqlite } = openDatabase(":memory:", { vecLibrary: vecLibrary(tmpdir()) });
  const store = { number: 1, generation: 1, dimensions: vectors[0]!.length };
  const numbers = createMemoryStore(sqlite, store).add(
    passages.map((text, index) => ({ text, vector: vectors[index]! })),
  );
  const searcher = createSearcher({ path: null, sqlite, log: silentLog });
  return {
    /** Returns the found texts, the best first. */
    async search(mode: SearchMode, query: string, vector: Float32Array): Promise<string[]> {
      const given = mode === "keyword" ? null : vector;
      const matches = await searcher.search(searchOrder(store, { mode, query, vector: given, top_k: numbers.length }));
      return matches.map(({ text }) => text);
    },
  };
}

/** Returns the rank of the right passage, from 1; infinite if it is not found. */
const rankOf = (found: readonly string[], text: string): number => found.indexOf(text) + 1 || Number.POSITIVE_INFINITY;

interface Row {
  kind: string;
  ranks: Record<SearchMode, number[]>;
}

async function measure(
  model: string,
  { passages, questions }: Corpus,
): Promise<{ rows: Row[]; passage_ms: number; query_ms: number }> {
  const { embed } = embedders.of(model, null);
  await embed(["warm"]);
  const [vectors, passage_ms] = await timed(() => embed(passages));
  const store = storeOf(passages, vectors);
  const rows = [...new Set(questions.map(({ kind }) => kind)), "all"].map(
    (kind): Row => ({ kind, ranks: { keyword: [], vector: [], hybrid: [] } }),
  );
  let query_ms = 0;
  for (const { text, passage, kind } of questions) {
    const [[query], ms] = await timed(() => embed([text], undefined, "query"));
    query_ms += ms;
    for (const mode of methods) {
      const rank = rankOf(await store.search(mode, text, query!), passages[passage]!);
      for (const row of rows) if (row.kind === kind || row.kind === "all") row.ranks[mode].push(rank);
    }
  }
  return { rows, passage_ms: passage_ms / passages.length, query_ms: query_ms / questions.length };
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const started = performance.now();
  const result = await work();
  return [result, performance.now() - started];
}

/** Returns the share of ranks up to `most`, with its 95 % confidence interval (Wilson's). */
function within(ranks: readonly number[], most: number): string {
  const [n, z] = [ranks.length, 1.96];
  const share = ranks.filter((rank) => rank <= most).length / n;
  const middle = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const half = (z / (1 + z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  const percent = (value: number) => Math.round(100 * value);
  return `${percent(share)} % (${percent(middle - half)}–${percent(middle + half)})`;
}

const reciprocal = (ranks: readonly number[]) =>
  (ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length).toFixed(3);

const files = process.argv.slice(2);
const corpora =
  files.length > 0
    ? await Promise.all(files.map(readCorpusFile))
    : [
        madeUp(),
        documentation(),
        docstrings(),
        declarations(),
        packageDescriptions(),
        mistyped(packageDescriptions()),
        otherLanguages(),
        ...translations(),
      ];
for (const corpus of corpora) {
  console.log(`\n${corpus.name}: ${corpus.passages.length} passages, ${corpus.questions.length} questions\n`);
  console.log(
    "| Model | Questions | Search | first | first three | first ten | MRR |\n| --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const model of models) {
    const { rows, passage_ms, query_ms } = await measure(model, corpus);
    for (const { kind, ranks } of rows.length > 2 ? rows : rows.slice(0, 1))
      for (const method of methods) {
        const list = ranks[method];
        const shares = [1, 3, 10].map((most) => within(list, most)).join(" | ");
        console.log(`| ${model} | ${kind} | ${method} | ${shares} | ${reciprocal(list)} |`);
      }
    console.log(`| ${model} | a passage ${passage_ms.toFixed(0)} ms, a question ${query_ms.toFixed(0)} ms | | | | | |`);
  }
}
embedders.stop();
rmSync(folder, { recursive: true });
