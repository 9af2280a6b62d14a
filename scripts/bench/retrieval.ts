import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { openDatabase } from "../../server/db/open.ts";
import { vecLibrary } from "../../server/lib/assets.ts";
import { silentLog } from "../../server/lib/log.ts";
import { builtInEmbedding, createEmbedders } from "../../server/retrieval/embed/embedder.ts";
import type { SearchMode } from "../../server/retrieval/search/passages.ts";
import { createSearcher } from "../../server/retrieval/search/searcher.ts";
import { createMemoryStore, searchOrder } from "../../server/testing/memory-store.ts";
import { readmeSections } from "./readme-sections.ts";
import retrievalSet from "./retrieval-set.json";

/** Texts, and questions of several kinds that each one of them answers. */
interface Corpus {
  name: string;
  passages: string[];
  questions: { kind: string; text: string; passage: number }[];
}

const methods = ["keyword", "vector", "hybrid"] as const satisfies SearchMode[];

const embedders = createEmbedders({
  log: silentLog,
  resolve() {
    throw new Error("Only the built-in model is compared.");
  },
});
const { embed } = embedders.of(builtInEmbedding.model, builtInEmbedding.dimensions);

/**
 * Notes of a made-up household, shop and town, each with a question in its own words and the same question in others.
 * Made for this comparison alone: small, and by one hand, so that it tells ways of searching apart and says little about
 * any collection of texts.
 */
function madeUp(): Corpus {
  return {
    name: "made-up notes",
    passages: retrievalSet.map(([passage]) => passage!),
    questions: retrievalSet.flatMap(([, lexical, paraphrase], passage) => [
      { kind: "same words", text: lexical!, passage },
      { kind: "other words", text: paraphrase!, passage },
    ]),
  };
}

function documentation(): Corpus {
  const sections = readmeSections(300);
  return {
    name: "documentation",
    passages: sections.map(({ body }) => body),
    questions: sections.map(({ heading }, passage) => ({ kind: "heading", text: heading, passage })),
  };
}

/** A file of one's own, with `docs: string[]` and `queries: [text, passage, kind][]`. */
async function given(path: string): Promise<Corpus> {
  const { docs, queries } = (await import(resolve(path))) as { docs: string[]; queries: [string, number, string][] };
  return { name: path, passages: docs, questions: queries.map(([text, passage, kind]) => ({ text, passage, kind })) };
}

/** A store with a corpus in it, searched as a server searches. */
function storeOf(passages: readonly string[], vectors: readonly Float32Array[]) {
  const { sqlite } = openDatabase(":memory:", { vecLibrary: vecLibrary(tmpdir()) });
  const store = { number: 1, generation: 1, dimensions: builtInEmbedding.dimensions };
  const numbers = createMemoryStore(sqlite, store).add(
    passages.map((text, index) => ({ text, vector: vectors[index]! })),
  );
  const searcher = createSearcher({ path: null, sqlite, log: silentLog });
  return {
    /** The texts that are found, the best first. */
    async search(mode: SearchMode, query: string, vector: Float32Array): Promise<string[]> {
      const given = mode === "keyword" ? null : vector;
      const matches = await searcher.search(searchOrder(store, { mode, query, vector: given, top_k: numbers.length }));
      return matches.map(({ text }) => text);
    },
  };
}

/** Where the right passage stands, from 1; infinite when it is not found. */
const rankOf = (found: readonly string[], text: string): number => found.indexOf(text) + 1 || Number.POSITIVE_INFINITY;

interface Row {
  kind: string;
  ranks: Record<SearchMode, number[]>;
}

async function measure({
  passages,
  questions,
}: Corpus): Promise<{ rows: Row[]; passage_ms: number; query_ms: number }> {
  await embed(["warm"]);
  const [vectors, passage_ms] = await timed(() => embed(passages));
  const store = storeOf(passages, vectors);
  const rows = [...new Set(questions.map(({ kind }) => kind)), "all"].map(
    (kind): Row => ({ kind, ranks: { keyword: [], vector: [], hybrid: [] } }),
  );
  let query_ms = 0;
  for (const { text, passage, kind } of questions) {
    const [[query], ms] = await timed(() => embed([text]));
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

const within = (ranks: readonly number[], most: number) =>
  `${Math.round((100 * ranks.filter((rank) => rank <= most).length) / ranks.length)} %`;

const reciprocal = (ranks: readonly number[]) =>
  (ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length).toFixed(3);

const corpora = [madeUp(), documentation(), ...(await Promise.all(process.argv.slice(2).map(given)))];
for (const corpus of corpora) {
  const { rows, passage_ms, query_ms } = await measure(corpus);
  const texts = `${corpus.passages.length} passages, ${passage_ms.toFixed(0)} ms each`;
  console.log(`\n${corpus.name}: ${texts}; ${corpus.questions.length} questions, ${query_ms.toFixed(0)} ms each\n`);
  console.log("| Questions | Search | first | first three | MRR |\n| --- | --- | --- | --- | --- |");
  for (const { kind, ranks } of rows.length > 2 ? rows : rows.slice(0, 1))
    for (const method of methods) {
      const list = ranks[method];
      console.log(`| ${kind} | ${method} | ${within(list, 1)} | ${within(list, 3)} | ${reciprocal(list)} |`);
    }
}
embedders.stop();
