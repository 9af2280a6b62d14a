/**
 * Measures the search of a vector store: `bun scripts/bench/vectors.ts [--count 100000] [--dimensions 512] [--keep
 * DIR]`, where DIR keeps the data set for reuse. It reports ratios to baselines of the same run, and tests nothing:
 * README.md explains them.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { vecLibrary } from "../../server/lib/assets.ts";
import { silentLog } from "../../server/lib/log.ts";
import { createSearcher, type SearchOrder } from "../../server/runtime/retrieval/vector-search/searcher.ts";
import { addVectors, addWords } from "../../server/runtime/retrieval/vector-search/tables.ts";
import { openDatabase } from "../../server/storage/db/open.ts";
import { createMemoryStore, searchOrder } from "../../server/testing/memory-store.ts";
import { median, timed } from "./processes.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    dimensions: { type: "string", default: "512" },
    keep: { type: "string" },
  },
});
const [count, dimensions] = [Number(values.count), Number(values.dimensions)];
const tables = { number: 1, generation: 1, dimensions };
const [rounds, warming, batch, most] = [41, 20, 500, 10];

const folder = values.keep ?? mkdtempSync(join(tmpdir(), "runnel-vectors-"));
mkdirSync(folder, { recursive: true });
try {
  await measure();
} finally {
  if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const path = join(folder, `${count}x${dimensions}.db`);
  const isThere = existsSync(path);
  const { sqlite, ...db } = openDatabase(path, { vecLibrary: vecLibrary(folder) });
  const stock = openStock(join(folder, `${count}x${dimensions}.stock.db`));
  if (!isThere) fill(sqlite, stock);
  const insert = inserts(sqlite);
  const searcher = createSearcher({ path, sqlite, log: silentLog, most_bytes: 2 ** 31 });
  const search = (order: Partial<SearchOrder>) => searcher.search(searchOrder(tables, { vector: random(), ...order }));
  const load = await timed(() => search({}));
  // Until its code is compiled, a search takes twice as long.
  for (let round = 0; round < warming; round++) await search({});
  const times = await inTurns(search);
  const exact = await compareWithStock(stock, search);
  print({
    chunks: count,
    dimensions,
    "insert, vector (µs)": insert.vector,
    "insert, words (µs)": insert.words,
    "cold load (ms)": load,
    "search (ms)": median(times.vector!),
    "bandwidth bound (ms)": median(times.bound!),
    "search / bound": median(ratios(times.vector!, times.bound!)),
    "the same in processor time": median(ratios(times["vector, processor"]!, times["bound, processor"]!)),
    "stock sqlite-vec (ms)": exact.time,
    "stock / search": exact.ratio,
    "recall@10": exact.recall,
    "hybrid, rare words - search (ms)": median(differences(times.rare!, times.vector!)),
    "hybrid, common words - search (ms)": median(differences(times.common!, times.vector!)),
    "filter that a hundredth meets / search": median(ratios(times.filtered!, times.vector!)),
    "main thread's delay while searching, p99 (ms)": await delayWhile(() => search({})),
    "main thread's delay at rest, p99 (ms)": await delayWhile(() => Bun.sleep(20)),
  });
  searcher.stop();
  stock.close();
  db.close();
}

/**
 * Runs each kind of search once per round, beside the bandwidth bound, so that other load affects all of them alike.
 * Also records the processor time of all threads, for a busy machine.
 */
async function inTurns(search: (order: Partial<SearchOrder>) => Promise<unknown>): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = { bound: [], vector: [], rare: [], common: [], filtered: [] };
  const read = scanner();
  for (let round = -3; round < rounds; round++) {
    const vector = random(); // The same for all, so that only the words differ.
    const work = {
      bound: read,
      vector: () => search({ vector }),
      rare: () => search({ vector, mode: "hybrid", query: "word19000 word18000" }),
      common: () => search({ vector, mode: "hybrid", query: "common word0 word1 word2 word18500" }),
      filtered: () => search({ vector, filter: { field: "hundredth", is: "$eq", value: 7 } }),
    };
    for (const [name, each] of Object.entries(work)) {
      const before = process.cpuUsage();
      const time = await timed(each);
      const { user, system } = process.cpuUsage(before);
      if (round < 0) continue;
      times[name]!.push(time);
      times[`${name}, processor`] = [...(times[`${name}, processor`] ?? []), (user + system) / 1000];
    }
  }
  return times;
}

/** Opens a sqlite-vec table with default options. */
function openStock(path: string): Database {
  const sqlite = new Database(path, { strict: true });
  sqlite.loadExtension(vecLibrary(folder));
  sqlite.run("PRAGMA synchronous = OFF");
  sqlite.run(`CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(
    embedding float[${dimensions}] distance_metric=cosine)`);
  return sqlite;
}

function fill(sqlite: Database, stock: Database): void {
  sqlite.run("PRAGMA synchronous = OFF");
  const store = createMemoryStore(sqlite, tables);
  const insert = stock.prepare("INSERT INTO vectors (rowid, embedding) VALUES (?, ?)");
  const copy = stock.transaction((numbers: number[], vectors: Float32Array[]) => {
    for (const [index, number] of numbers.entries()) insert.run(number, bytesOf(vectors[index]!));
  });
  for (let done = 0; done < count; done += batch) {
    const passages = Array.from({ length: Math.min(batch, count - done) }, (_, index) => ({
      text: text(),
      vector: random(),
      metadata: { hundredth: index % 100 },
    }));
    copy(
      store.add(passages),
      passages.map(({ vector }) => vector),
    );
  }
  store.close();
  insert.finalize();
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/**
 * Returns the durations of inserting a row's vector and its words at this size, as medians over batches that are rolled
 * back.
 */
function inserts(sqlite: Database): { vector: number; words: number } {
  const [vector, words]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const rows = Array.from({ length: batch }, (_, index) => ({
      number: 1e9 + index,
      text: text(),
      vector: random(),
    }));
    sqlite.run("BEGIN");
    vector.push((1000 * timedNow(() => addVectors(sqlite, tables, rows))) / batch);
    words.push((1000 * timedNow(() => addWords(sqlite, tables.number, rows))) / batch);
    sqlite.run("ROLLBACK");
  }
  return { vector: median(vector), words: median(words) };
}

/** Compares with sqlite-vec's own float search: the ratio of the times, and the share of its matches that ours has. */
async function compareWithStock(
  stock: Database,
  search: (order: Partial<SearchOrder>) => Promise<{ entry_id: string }[]>,
) {
  const nearest = stock.query<{ rowid: number }, [Uint8Array, number]>(
    "SELECT rowid FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance",
  );
  const [theirs, ours]: [number[], number[]] = [[], []];
  const asked = 21;
  let found = 0;
  for (let round = 0; round < asked; round++) {
    const vector = random();
    let exact: { rowid: number }[] = [];
    let matches: { entry_id: string }[] = [];
    theirs.push(timedNow(() => (exact = nearest.all(bytesOf(vector), most))));
    ours.push(await timed(async () => (matches = await search({ vector, top_k: most }))));
    // The store numbers its entries by their chunks.
    const ids = new Set(matches.map((match) => match.entry_id));
    found += exact.filter(({ rowid }) => ids.has(`ment_${tables.number}_${rowid}`)).length;
  }
  return { time: median([...theirs]), ratio: median(ratios(theirs, ours)), recall: found / (asked * most) };
}

/** Returns a function that reads as many bytes as a search, at the machine's full bandwidth. */
function scanner(): () => void {
  const from = new Uint8Array(count * dimensions).fill(1);
  return () => {
    if (from.indexOf(2) !== -1) throw new Error("There is no 2.");
  };
}

async function delayWhile(work: () => Promise<unknown>): Promise<number> {
  const delays: number[] = [];
  let over = false;
  const watch = (async () => {
    while (!over) {
      const from = performance.now();
      await new Promise(setImmediate);
      delays.push(performance.now() - from);
    }
  })();
  for (let round = 0; round < rounds; round++) await work();
  over = true;
  await watch;
  return delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)]!;
}

function random(): Float32Array {
  return Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer);
}

/** Returns forty words of a vocabulary in which few are very common, and one that is in every text. */
function text(): string {
  const words = Array.from({ length: 40 }, () => `word${Math.floor(20_000 * Math.random() ** 3)}`);
  return `${words.join(" ")} common`;
}

function timedNow(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

function ratios(a: number[], b: number[]): number[] {
  return a.map((value, round) => value / b[round]!);
}

function differences(a: number[], b: number[]): number[] {
  return a.map((value, round) => value - b[round]!);
}

function print(figures: Record<string, number>): void {
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(48)}${Number(value.toPrecision(3))}`);
}
