/**
 * Measures search, lists of runs and analytics over many runs: `bun scripts/bench/search.ts [runs…]`, by default 10,000
 * and 1,000,000. Runs are written directly into a database and indexed by the server's own projection; requests are
 * handled in this process, without a socket. `RUNNEL_BENCH_DATABASE` names a file to keep for the next run.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vecLibrary } from "../../server/lib/assets.ts";
import { openDatabase } from "../../server/storage/db/open.ts";
import { testApp } from "../../server/testing/test-app.ts";
import { storeTraffic } from "./stored-traffic.ts";

const times = 15;
const sizes = process.argv.slice(2).map(Number);
const queries = {
  "search: a rare word": "/v1/search?q=word3977",
  "search: a frequent word": "/v1/search?q=word3+",
  "search: a beginning of 1,110 words": "/v1/search?q=word3",
  "search: a beginning of all words": "/v1/search?q=word",
  "search: two frequent words": "/v1/search?q=word3+word5",
  "search: two rare words": "/v1/search?q=word3977+word3801",
  "search: a frequent and a rare word": "/v1/search?q=word1+word3977",
  "search: a phrase": "/v1/search?q=%22word3+word5%22",
  "search: three letters": "/v1/search?q=wor",
  "search: a word and a beginning": "/v1/search?q=word12+word39",
  "search: nothing": "/v1/search?q=rumpelstilzchen",
  "runs: newest": "/v1/runs",
  "runs: a word": "/v1/runs?q=word700",
  "runs: one pair of metadata": "/v1/runs?metadata[order]=order-77",
  "runs: an error of a model": "/v1/runs?error_code=run_timeout&model=test/echo",
  "runs: a tool": "/v1/runs?tool=book_room",
  "runs: dear ones": "/v1/runs?cost_min=0.0041",
  "runs: sorted by cost": "/v1/runs?sort=cost",
  "runs: sorted by duration": "/v1/runs?sort=duration",
  "runs: counted by a beginning of 1,110 words": "/v1/runs/count?q=word3",
  "runs: counted by a rare word": "/v1/runs/count?q=word700",
  "analytics: models, 30 days": "/v1/analytics?group_by=model",
  "analytics: agents, 30 days": "/v1/analytics?group_by=agent",
  "analytics: tools by the hour": "/v1/analytics?group_by=tool&bucket=hour",
  "analytics: errors by the hour": "/v1/analytics?group_by=error&bucket=hour",
  "analytics: users, 30 days": "/v1/analytics?group_by=user",
  "analytics: durations, 30 days": "/v1/analytics?group_by=duration",
  "analytics: durations by the hour": "/v1/analytics?group_by=duration&bucket=hour",
};

for (const size of sizes.length > 0 ? sizes : [10_000, 1_000_000]) await measure(size);

async function measure(runs: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-search-"));
  const path = process.env.RUNNEL_BENCH_DATABASE ?? join(folder, "runnel.db");
  const isThere = existsSync(path);
  let db = openDatabase(path, { vecLibrary: vecLibrary("") });
  try {
    if (!isThere) {
      const first = testApp({ db });
      const client = await first.client();
      const { id } = (await client.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/echo" })).body;
      await client.post("/v1/runs?wait=10", { agent_id: id, input: "Hello." });
      await first[Symbol.asyncDispose]();
      storeTraffic(path, runs);
      db = openDatabase(path, { vecLibrary: vecLibrary("") });
    }
    const server = testApp({ db });
    const begun = { wall: performance.now(), cpu: process.cpuUsage() };
    await server.search.catchUp();
    const { user, system } = process.cpuUsage(begun.cpu);
    console.info(`${runs} runs: read in ${Math.round((performance.now() - begun.wall) / 1000)} s,`);
    console.info(
      `  ${Math.round((user + system) / runs)} µs of processor each; ${Math.round(statSync(path).size / 1e6)} MB`,
    );
    const { project_id } = db.sqlite.query<{ project_id: string }, []>("SELECT project_id FROM runs LIMIT 1").get()!;
    await server.projects.update(project_id, { limits: { reads_per_minute: 0 } });
    const { name } = db.sqlite
      .query<{ name: string }, [string]>("SELECT name FROM projects WHERE id = ?")
      .get(project_id)!;
    const client = await server.client({ project: name });
    const table: Record<string, object> = {};
    for (const [what, address] of Object.entries(queries)) {
      const [took, worked]: [number[], number[]] = [[], []];
      let found = 0;
      for (let time = 0; time < times; time++) {
        const [at, cpu] = [performance.now(), process.cpuUsage()];
        const { status, body } = await client.get(address);
        took.push(performance.now() - at);
        const { user, system } = process.cpuUsage(cpu);
        worked.push((user + system) / 1000);
        if (status !== 200) throw new Error(`${address}: ${status} ${JSON.stringify(body)}`);
        found = body.data?.length ?? body.count;
      }
      for (const times of [took, worked]) times.sort((a, b) => a - b);
      table[what] = {
        found,
        "median, ms": Number(took[times >> 1]!.toFixed(1)),
        "of it processor, ms": Number(worked[times >> 1]!.toFixed(1)),
        "slowest, ms": Number(took.at(-1)!.toFixed(1)),
      };
    }
    console.table(table);
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
