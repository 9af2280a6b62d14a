/**
 * Kills the executable 200 times while 300 runs execute, and then sees that the same storm finds each fault that is put
 * into the sources on purpose:
 *
 *   npm run storm
 *   npm run storm -- --kills 20 --runs 30 --seed 7
 *
 * Or ends leaders of a cluster of two cells in every way: 100 kills after which the folder is gone, 20 after which it is
 * not, 20 pauses, and its engine 5 times; then the faults of a cluster.
 *
 *   npm run storm -- --cluster
 */
import { parseArgs } from "node:util";
import type { Way } from "../e2e/cluster/storm.ts";
import { counters } from "../e2e/storm/judge.ts";
import { runStorm, type StormReport } from "../e2e/storm/storm.ts";
import { startPostgres } from "../server/testing/postgres.ts";
import { isFresh } from "./stamp.ts";
import { compileMutants } from "./storm/mutant.ts";
import { clusterMutants, mutants, unitMutants } from "./storm/mutants.ts";

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
for (const mutant of mutants) {
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
  const some = (share: number, way: Way) => Array.from({ length: Math.ceil(times * share) }, () => way);
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

/** How many faults of a cluster no storm has seen. */
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
