/**
 * Measures the compiled executable against bare servers and against the model alone, side by side in one run:
 *
 *   npm run bench               three rounds with TLS and three without
 *   npm run bench -- --quick    one short round with TLS
 *   npm run bench -- --only plain
 *   npm run bench -- --cold --lone --idle [--against EXECUTABLE] [--rounds 5]
 *                               the server of a small team, in turns with another executable
 *   npm run bench -- --peers [--rounds 3]
 *                               beside VoltAgent, Mastra and Agno, in turns; installs them from npm and PyPI
 *   npm run bench -- --stored   also the growth of the costs from 10 000 to 1 000 000 stored runs (minutes, gigabytes)
 *
 * It reports ratios, and tests nothing: README.md explains them.
 */

import { Database } from "bun:sqlite";
import { cpus, tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { newId } from "../../server/domain/ids.ts";
import { measurePeers } from "./peers.ts";
import { isPinned, measure, memory, start } from "./processes.ts";
import { startProduct } from "./product.ts";
import {
  type Figures,
  measureGrowth,
  measureLongRuns,
  measureRound,
  type Systems,
  slowStreams,
  warmUp,
} from "./round.ts";
import { measureSituations, type Situation, situations } from "./situations.ts";
import { table } from "./table.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    stored: { type: "boolean" },
    rounds: { type: "string" },
    only: { type: "string" },
    cold: { type: "boolean" },
    lone: { type: "boolean" },
    idle: { type: "boolean" },
    against: { type: "string" },
    peers: { type: "boolean" },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const idleAfter_ms = 5000;
const scale = values.quick ? 0.4 : 1;

const chosen = (Object.keys(situations) as Situation[]).filter((name) => values[name]);
if (chosen.length > 0) {
  await measureSituations(chosen, { rounds: Number(values.rounds ?? 5), against: values.against });
  process.exit();
}

if (values.peers) {
  await measurePeers({ rounds: Number(values.rounds ?? 3) });
  process.exit();
}

console.error(`${cpus()[0]?.model}, ${cpus().length} cores, Bun ${Bun.version}, ${isPinned ? "pinned" : "not pinned"}`);
const columns: { title: string; rounds: Figures[] }[] = [];
for (const title of ["TLS", "plain"].filter((name) => name === (values.only ?? (values.quick ? "TLS" : name))))
  columns.push({ title, rounds: await measureAll(title === "TLS") });
console.log(table(columns));

async function measureAll(tls: boolean): Promise<Figures[]> {
  await using model = await start<{ url: string }>([process.execPath, `${import.meta.dir}/model.ts`]);
  const options = { model: model.line.url, tls };
  const starts = await measureStarts(options);
  await using product = await startProduct({ ...options, parent: tmpdir() });
  const yardstick = (kind: string) => {
    const files = tls ? [product.tlsFiles.cert, product.tlsFiles.key] : ["", ""];
    const command = [process.execPath, `${import.meta.dir}/yardstick.ts`, kind, ...files, model.line.url];
    return start<{ url: string }>(command, { core: "system" });
  };
  await using growth = values.stored ? await startGrowth(options) : null;
  await using hello = await yardstick("hello");
  await using read = await yardstick("read");
  await using pipe = await yardstick("pipe");
  await using relay = await yardstick("relay");
  const systems: Systems = {
    product,
    hello: hello.line.url,
    read: { url: read.line.url, pid: read.pid },
    pipe: { url: pipe.line.url, pid: pipe.pid },
    relay: relay.line.url,
    model: model.line.url,
    ca: product.ca,
  };
  const warm = await warmUp(systems, scale);
  const long = await measureLongRuns(product);
  const measured: Figures[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`${tls ? "TLS" : "plain"}, round ${round} of ${rounds}`);
    const grown = growth && (await measureGrowth(growth, 2000 * scale));
    measured.push({
      ...(await measureRound(systems, scale)),
      ...starts[round % starts.length],
      ...warm,
      ...long,
      ...grown,
    });
  }
  return measured;
}

/** Starts two servers that differ in their number of stored runs. */
async function startGrowth(options: { model: string; tls: boolean }) {
  const few = await startProduct({ ...options, parent: tmpdir() });
  const many = await startProduct({ ...options, parent: tmpdir() });
  for (const [product, count] of [
    [few, 10_000],
    [many, 1_000_000],
  ] as const) {
    console.error(`storing ${count} runs`);
    await measure({ ...(await product.run("t1-d0")), connections: 1, requests: 1 });
    storeRuns(product.database, count);
  }
  return {
    few,
    many,
    async [Symbol.asyncDispose]() {
      await few[Symbol.asyncDispose]();
      await many[Symbol.asyncDispose]();
    },
  };
}

async function measureStarts(options: { model: string; tls: boolean }): Promise<Figures[]> {
  const starts: Figures[] = [];
  for (let count = 0; count < 3; count++) {
    await using product = await startProduct({ ...options, parent: tmpdir() });
    await Bun.sleep(idleAfter_ms);
    const idle = { "start.first200_ms": product.first200_ms, "start.idle_mib": memory(product.pid) };
    starts.push({ ...idle, ...(await slowStreams({ product })) });
  }
  return starts;
}

const batch = 10_000;

/**
 * Fills a database with copies of its newest run, journal included, under ids of the past, like those of a server long
 * in use. The server may be running, and must be idle.
 */
function storeRuns(path: string, count: number): void {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 60000");
  db.run("PRAGMA synchronous = OFF");
  const model = db.query<{ id: string }, []>("SELECT id FROM runs WHERE status = 'completed' ORDER BY id DESC").get()!;
  const columns = (table: string, but: string) =>
    db
      .query<{ name: string }, []>(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => name)
      .filter((name) => name !== but)
      .join(", ");
  const copy = (table: string, id: string) =>
    db.query(
      `INSERT INTO ${table} (${id}, ${columns(table, id)}) SELECT ?, ${columns(table, id)} FROM ${table} WHERE ${id} = ?`,
    );
  const copies = [copy("runs", "id"), copy("run_events", "run_id"), copy("run_blobs", "run_id")];
  const last = Date.now() - 3_600_000;
  const fill = db.transaction((from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const id = newId("run", last - (count - index) * 50);
      for (const each of copies) each.run(id, model.id);
    }
  });
  for (let from = 0; from < count; from += batch) {
    fill.immediate(from, Math.min(count, from + batch));
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  db.run("PRAGMA optimize");
  db.close();
}
