/**
 * Measures the compiled executable against bare servers and against the model alone, side by side in one run:
 *
 *   npm run bench               three rounds with TLS and three without
 *   npm run bench -- --quick    one short round with TLS
 *   npm run bench -- --stored   also the growth of the costs from 10 000 to 1 000 000 stored runs (minutes, gigabytes)
 *
 * It reports ratios, and tests nothing: what they mean stands in README.md.
 */
import { existsSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { isPinned, measure, start } from "./processes.ts";
import { startProduct } from "./product.ts";
import { type Figures, measureGrowth, measureRound, type Systems } from "./round.ts";
import { storeRuns } from "./stored.ts";
import { table } from "./table.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    stored: { type: "boolean" },
    rounds: { type: "string" },
    "no-plain": { type: "boolean" },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const scale = values.quick ? 0.4 : 1;
const inMemory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

console.error(`${cpus()[0]?.model}, ${cpus().length} cores, Bun ${Bun.version}, ${isPinned ? "pinned" : "not pinned"}`);
const columns = [{ title: "TLS", rounds: await measureAll(true) }];
if (!values.quick && !values["no-plain"]) columns.push({ title: "plain", rounds: await measureAll(false) });
console.log(table(columns));

async function measureAll(tls: boolean): Promise<Figures[]> {
  await using model = await start<{ url: string }>([process.execPath, `${import.meta.dir}/model.ts`]);
  const options = { model: model.line.url, tls };
  const starts = await measureStarts(options);
  await using product = await startProduct({ ...options, parent: tmpdir() });
  await using volatile = await startProduct({ ...options, parent: inMemory });
  const yardstick = (kind: string) => {
    const files = tls ? [product.tlsFiles.cert, product.tlsFiles.key] : ["", ""];
    const command = [process.execPath, `${import.meta.dir}/yardstick.ts`, kind, ...files, model.line.url];
    return start<{ url: string }>(command, { core: "system" });
  };
  await using growth = values.stored ? await startGrowth(options) : null;
  await using hello = await yardstick("hello");
  await using read = await yardstick("read");
  await using pipe = await yardstick("pipe");
  const systems: Systems = {
    product,
    volatile,
    hello: hello.line.url,
    read: read.line.url,
    pipe: { url: pipe.line.url, pid: pipe.pid },
    model: model.line.url,
    ca: product.ca,
  };
  const measured: Figures[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`${tls ? "TLS" : "plain"}, round ${round} of ${rounds}`);
    const grown = growth && (await measureGrowth(growth, 2000 * scale));
    measured.push({ ...(await measureRound(systems, scale)), ...starts[round % starts.length], ...grown });
  }
  return measured;
}

/** Two servers that differ in what they have stored. */
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
    starts.push({ "start.first200_ms": product.first200_ms, "start.idle_mib": product.idle_mib });
  }
  return starts;
}
