/**
 * Kills the executable 200 times while 300 runs execute, and then checks that the same storm detects each fault
 * injected into the sources:
 *
 *   npm run storm
 *   npm run storm -- --kills 20 --runs 30 --seed 7
 *
 * With `--cluster` it ends leaders of a cluster of two cells in every way: 100 kills that lose the folder, 20 that keep
 * it, 20 pauses, and 5 failovers of Postgres; then checks the cluster's injected faults.
 *
 *   npm run storm -- --cluster
 */
import { parseArgs } from "node:util";
import { counters } from "../e2e/chaos/judge.ts";
import { runStorm, type StormReport } from "../e2e/chaos/storm.ts";
import type { LeaderFault } from "../e2e/cluster/storm.ts";
import { startPostgres } from "../server/testing/postgres.ts";
import { compileMutants } from "./chaos/mutant.ts";
import { clusterMutants, stormMutants, unitMutants } from "./chaos/mutants.ts";
import { isFresh } from "./stamp.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string" },
    runs: { type: "string" },
    seed: { type: "string" },
    cluster: { type: "boolean" },
  },
});
const kills = Number(values.kills ?? 200);
const runs = Number(values.runs ?? 300);
const seed = Number(values.seed ?? Date.now() % 1_000_000);

if (!process.env.RUNNEL_EXECUTABLE && !isFresh()) {
  const { build } = await import("./build.ts");
  await build();
}

if (values.cluster) process.exit(await stormOverCluster());

console.log(`${kills} kills, ${runs} runs, seed ${seed}`);
const report = await runStorm({ kills, runs, seed });
print(report);
const missed: string[] = [];
using mutated = await compileMutants();
for (const mutant of stormMutants) {
  const { counters: found, figures } = await mutated.run(mutant, seed);
  const count = found[mutant.caughtBy];
  if (count === 0) missed.push(mutant.name);
  const word = count > 0 ? `caught: ${mutant.caughtBy} ${count}` : "NOT caught";
  console.log(`${mutant.name.padEnd(46)} ${word} after ${figures.kills} kills, ${figures.seconds} s`);
}
process.exitCode = report.faults.length === 0 && missed.length === 0 ? 0 : 1;

async function stormOverCluster(): Promise<number> {
  const { clusterCounters, stormCluster } = await import("../e2e/cluster/storm.ts");
  const times = Number(values.kills ?? 100);
  const some = (share: number, way: LeaderFault) => Array.from({ length: Math.ceil(times * share) }, () => way);
  const kills = some(1, "killed").map((way, n) => (n % 2 === 0 ? way : "unheard"));
  const ways = [...kills, ...some(0.2, "returned"), ...some(0.2, "paused"), ...some(0.05, "failedOver")];
  const { counters: found, figures, logs } = await stormCluster({ cell: "main,east", runs, ways });
  for (const [name, meaning] of Object.entries(clusterCounters))
    console.log(`${name.padEnd(12)} ${String(found[name as keyof typeof found]).padStart(5)}  ${meaning}`);
  console.log(JSON.stringify(figures));
  const isWhole = Object.values(found).every((count) => count === 0);
  if (!isWhole) console.error(logs);
  return (await missedInCluster()) === 0 && isWhole ? 0 : 1;
}

/** Returns the number of cluster faults that no storm has detected. */
async function missedInCluster(): Promise<number> {
  using mutated = await compileMutants();
  await using postgres = await startPostgres({ standby: true });
  let missed = 0;
  for (const [index, mutant] of clusterMutants.entries()) {
    const { counters: found, figures } = await mutated.runCluster(mutant, postgres, `mutant-${index}`);
    const seen = mutant.caughtBy.filter((name) => found[name] > 0);
    if (seen.length === 0) missed++;
    console.log(
      `${mutant.name.padEnd(46)} ${seen.length > 0 ? `caught: ${seen.join(", ")}` : "NOT caught"} with ${figures.runs} runs`,
    );
  }
  for (const mutant of unitMutants) {
    const seen = (await mutated.failsTest(mutant, true)) && !(await mutated.failsTest(mutant, false));
    if (!seen) missed++;
    console.log(`${mutant.name.padEnd(46)} ${seen ? "caught" : "NOT caught"} by ${mutant.test}`);
  }
  return missed;
}

function print({ counters: found, figures, faults }: StormReport): void {
  for (const [name, meaning] of Object.entries(counters))
    console.log(`${name.padEnd(12)} ${String(found[name as keyof typeof found]).padStart(5)}  ${meaning}`);
  console.log();
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(18)} ${String(value).padStart(7)}`);
  console.log();
  for (const text of faults.slice(0, 50)) console.error(text);
}
