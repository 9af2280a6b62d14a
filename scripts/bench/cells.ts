/**
 * Estimates how many of 1,000 cells one Postgres carries. Measures the cost of a WAL row on this machine with a
 * synchronous standby; then simulates 1,000 leaders over a Postgres of these costs, at several rates:
 *
 *   node scripts/run.mjs scripts/bench/cells.ts [--cores 16] [--flush-ms 0.5]
 *
 * The simulation covers commits that share a row, two rows in flight, the cores of Postgres, and flushes shared by all
 * ready rows. It is queueing arithmetic, and no measurement.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { leased } from "../../server/storage/replication/lease.ts";
import { parseHosts } from "../../server/storage/replication/parse-hosts.ts";
import { createPostgresClient } from "../../server/storage/replication/postgres-client.ts";
import { makeTables } from "../../server/storage/replication/tables.ts";
import { type Postgres, startPostgres } from "../../server/testing/postgres.ts";
import { simulateCells } from "./simulate-cells.ts";

const { values } = parseArgs({ options: { cores: { type: "string" }, "flush-ms": { type: "string" } } });
const [cells, measured_ms] = [1000, 4000];

const costs = [];
for (const connections of [1, 8, 32]) costs.push(await measureRows(connections));
console.log("connections  rows/s  ms a row  processor ms a row");
for (const { connections, rows_s, row_ms, cpu_ms } of costs)
  console.log(
    [
      String(connections).padStart(11),
      rows_s.toFixed(0).padStart(7),
      row_ms.toFixed(2).padStart(9),
      cpu_ms.toFixed(3),
    ].join(" "),
  );

// With one connection no work is shared: latency minus processor time is the flush and the network.
const engine = {
  cpu_ms: costs[1]!.cpu_ms, // Occasional commits of 1,000 cells leave a few active at once.
  flush_ms: Number(values["flush-ms"] ?? Math.max(0.1, costs[0]!.row_ms - costs[0]!.cpu_ms)),
  cores: Number(values.cores ?? 16),
};
console.log(`\n${cells} cells over ${JSON.stringify(engine)}`);
console.log("steps/s  rows/s  steps a row  told after p50, p99 ms  cores");
for (const steps_s of [1000, 10_000, 20_000, 50_000, 100_000, 200_000]) {
  const { rows_s, commits_a_row, p50_ms, p99_ms, cores } = simulateCells({ cells, commits_s: steps_s, ...engine });
  console.log(
    `${String(steps_s).padStart(7)} ${rows_s.toFixed(0).padStart(7)} ${commits_a_row.toFixed(2).padStart(12)} ${p50_ms.toFixed(2).padStart(14)}, ${p99_ms.toFixed(1)} ${cores.toFixed(1).padStart(8)}`,
  );
}

/** Writes rows of 1.9 kB, one after another on each connection, each connection for its own cell. */
async function measureRows(connections: number) {
  await using postgres = await startPostgres({ standby: true });
  const [url] = parseHosts(postgres.url);
  const engines = Array.from({ length: connections }, (_, n) =>
    createPostgresClient(url!, { patience_ms: 60_000, name: `${n}` }),
  );
  await engines[0]!.attempt(async (sql) => ({ done: await makeTables(sql) }));
  const statement = `WITH mine AS (
      UPDATE runnel_cells SET head = $3, ${leased(3000)} WHERE id = $1 AND epoch = $2 AND head = $3 - 1 RETURNING id
    ) INSERT INTO runnel_log (cell, seq, epoch, frames) SELECT id, $3, $2, $4 FROM mine RETURNING seq`;
  for (const [n, { ask }] of engines.entries())
    await ask(
      `INSERT INTO runnel_cells (id, leader, address, certificate, epoch, lease_until, head, base, base_epoch, master_key_id, version)
       VALUES ($1, '', '', '', 1, now(), 0, 0, 0, '', 1)`,
      [`cell ${n}`],
    );
  let rows = 0;
  const [from, begun] = [cpuOf(postgres), performance.now()];
  await Promise.all(
    engines.map(async ({ ask }, n) => {
      const frames = randomBytes(1900);
      for (let seq = 1; performance.now() - begun < measured_ms; seq++) {
        const answer = await ask(statement, [`cell ${n}`, 1, seq, frames]);
        if (answer?.length !== 1) throw new Error("A row was refused.");
        rows++;
      }
    }),
  );
  const [cpu, took] = [cpuOf(postgres) - from, performance.now() - begun];
  await Promise.all(engines.map(({ close }) => close()));
  return { connections, rows_s: (rows / took) * 1000, row_ms: (took * connections) / rows, cpu_ms: cpu / rows };
}

/** Processor time of the primary and all its processes, in milliseconds; its standby is another machine. */
function cpuOf({ primary }: Postgres): number {
  const { pid } = primary.process;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return [String(pid), ...children].reduce((sum, each) => {
    const fields = readFileSync(`/proc/${each}/stat`, "utf8").split(") ")[1]!.split(" ");
    return sum + (Number(fields[11]) + Number(fields[12])) * 10;
  }, 0);
}
