/**
 * Measures how long requests wait while a server is replaced under load:
 *
 *   node scripts/run.mjs scripts/bench/handover.ts
 */
import { createScripted } from "../../e2e/fixtures.ts";
import { startRunnel } from "../../e2e/harness.ts";
import { startLoad } from "../../e2e/steady-load.ts";

const restarts = 5;
const between_ms = 1500;

await using server = await startRunnel({ flags: ["--log-format", "json"] });
const agent_id = await createScripted(server, [{ text: "Done." }]);
const load = startLoad(server, { agent_id, keeping: 1, connecting: 1, seldom: 2 });
const gaps: number[] = [];
for (let restart = 0; restart < restarts; restart++) {
  await Bun.sleep(between_ms);
  load.takeGap();
  await server.replace();
  gaps.push(Math.round(load.takeGap()));
}
await load.stop();
const waited = [...server.log().matchAll(/"waited_ms":(\d+)/g)].map(([, ms]) => Number(ms));
console.log(`longest time without an answer, in each restart: ${gaps.join(", ")} ms`);
console.log(`of that between the two processes: ${waited.join(", ")} ms`);
console.log(`${load.runs.length} runs, ${load.failures.length} requests refused or lost`);
