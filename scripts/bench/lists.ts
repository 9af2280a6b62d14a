/**
 * Measures how lists of large items affect other requests: `bun scripts/bench/lists.ts`. 20 runs of 13 MB and 20 agents
 * of 2 MB; one list, and eight concurrent ones, with the latency of other requests meanwhile and the memory of the
 * process. `RUNNEL_EXECUTABLE` names another build to compare with.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../server/domain/ids.ts";
import { storeLongRuns } from "./long-runs.ts";
import { memory } from "./processes.ts";
import { startProduct } from "./product.ts";

const runs = 20;
const calls = 52;
const output_bytes = 250_000;
const atOnce = 8;

const folder = mkdtempSync(join(tmpdir(), "runnel-lists-"));
await using product = await startProduct({ parent: folder, model: "http://127.0.0.1:8999", tls: false });
try {
  await storeLongRuns(product.database, { runs, calls, output_bytes });
  await product.read(); // Creates the agent.
  storeLongAgents(product.database);
  const { url, headers } = product.list();
  const at = (path: string) => url.replace(/\/v1\/.*/, path);
  const table: Record<string, object> = {};
  for (const path of ["/v1/runs", "/v1/runs?include=messages", "/v1/traces", "/v1/agents"])
    for (const count of [1, atOnce])
      table[`${count} × ${path}`] = await measure(at(path), at("/healthz"), headers, count);
  console.table(table);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(url: string, quiet: string, headers: Record<string, string> | undefined, count: number) {
  let [waited, peak, isOver] = [0, 0, false];
  const others = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await (await fetch(quiet)).text();
      waited = Math.max(waited, performance.now() - begun);
      peak = Math.max(peak, memory(product.pid));
      await Bun.sleep(1);
    }
  })();
  const begun = performance.now();
  const sizes = await Promise.all(
    Array.from({ length: count }, async () => (await (await fetch(url, { headers })).arrayBuffer()).byteLength),
  );
  const took = performance.now() - begun;
  isOver = true;
  await others;
  return {
    "body, kB": Math.round(sizes[0]! / 1000),
    "took, ms": Math.round(took),
    "others waited, ms": Math.round(waited),
    "RSS, MiB": Math.round(peak),
  };
}

function storeLongAgents(path: string): void {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 60000");
  const [script, instructions] = [JSON.stringify([{ text: "x".repeat(1_700_000) }]), "x".repeat(250_000)];
  const insert = db.query(
    `INSERT INTO agents (project_id, environment, id, name, model, version, definition, metadata, created_at_ms, updated_at_ms)
     SELECT project_id, environment, ?, name, model, version,
       json_set(definition, '$.model_settings.script', json(?), '$.instructions', ?), metadata, created_at_ms, updated_at_ms
     FROM agents LIMIT 1`,
  );
  for (let agent = 0; agent < runs; agent++) insert.run(newId("agent"), script, instructions);
  db.close();
}
