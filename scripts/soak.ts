import { parseArgs } from "node:util";
import { figuresAvailable, openFiles, serverPid } from "../e2e/process-figures.ts";
import { startLoad } from "./soak/load.ts";
import { growth, line, type Sample, sample } from "./soak/sample.ts";
import { isFresh } from "./stamp.ts";

// Runs every kind of load for half an hour on the executable: checks growth of memory, open files, and latency of
// reads.

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes takes a number, not "${values.minutes}".`);
if (!figuresAvailable) throw new Error("The figures of a process are read from /proc, which this system has not.");
if (!process.env.RUNNEL_EXECUTABLE && !isFresh()) await (await import("./build.ts")).build();

// Imported late, because the harness requires the executable.
const { startRunnel } = await import("../e2e/harness.ts");
await using server = await startRunnel();
const idle = openFiles(serverPid(server.dataDir));
const load = await startLoad(server);
const began = performance.now();
const every_ms = Math.min(60_000, (minutes * 60_000) / 10);
const samples: Sample[] = [];
while (performance.now() - began < minutes * 60_000) {
  await Bun.sleep(every_ms);
  const now = sample(server, load, began);
  if (samples.push(now) === 1) console.log(line(Object.keys(now)));
  console.log(line(Object.values(now)));
}
await load.stop();

// One-time costs (compiled code, filling caches) are no leak: the first third does not count.
const settled = samples.slice(Math.floor(samples.length / 3));
const freed = await back();
const verdicts: [string, boolean][] = [
  [`RSS grows by ${growth(settled, "RSS MB").toFixed(2)} MB a minute (less than 1)`, growth(settled, "RSS MB") < 1],
  [`open files grow by ${growth(settled, "files").toFixed(2)} a minute (less than 1)`, growth(settled, "files") < 1],
  [`${openFiles(serverPid(server.dataDir))} files are open in the end, ${idle} were before`, freed],
  [`${load.errors.length} requests went wrong`, load.errors.length === 0],
];
for (const [what, good] of verdicts) console.log(`${good ? "ok  " : "FAIL"} ${what}`);
for (const error of load.errors.slice(0, 10)) console.log(`     ${error}`);
process.exitCode = verdicts.every(([, good]) => good) ? 0 : 1;

/** True if no file or connection of the load is left, once its clients' idle connections are closed. */
async function back(): Promise<boolean> {
  for (let second = 0; second < 60; second++) {
    if (openFiles(serverPid(server.dataDir)) <= idle + 2) return true;
    await Bun.sleep(1000);
  }
  return false;
}
