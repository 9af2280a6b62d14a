/**
 * Measures which share of the main thread's work counts for `/metrics`: `bun scripts/bench/metrics.ts`. A server from
 * source runs `test/echo`, 32 concurrent, under the runtime's sampling profiler, which sees running code only, so that
 * other load on the machine changes little. It reports and tests nothing; README.md explains the figures.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../root.ts";
import { start, threadTimes } from "./processes.ts";

const [warm, measured] = [4000, 6000];
const folder = mkdtempSync(join(tmpdir(), "runnel-metrics-"));
const dataDir = join(folder, "data");
const profiled = [
  "--cpu-prof",
  "--cpu-prof-interval=200",
  "--cpu-prof-name=server.cpuprofile",
  `--cpu-prof-dir=${folder}`,
];
const flags = ["serve", "--json", "--port", "0", "--insecure-http", "--data-dir", dataDir];
const server = await start<{ address: string; keys: { test: string } }>(
  [process.execPath, ...profiled, inProject("server/main.ts"), ...flags],
  { env: {}, cwd: folder, core: "system" },
);
const { address, keys } = server.line;
const headers = { authorization: `Bearer ${keys.test}`, "content-type": "application/json" };
const post = async (path: string, body: object) =>
  (await (await fetch(address + path, { method: "POST", headers, body: JSON.stringify(body) })).json()) as {
    id: string;
    status: string;
  };
using database = new Database(join(dataDir, "runnel.db"));
database.run("PRAGMA busy_timeout = 5000");
const off = { reads_per_minute: 0, run_creations_per_minute: 0, writes_per_minute: 0, runs_in_progress: 0 };
database.query("UPDATE projects SET settings = ?").run(JSON.stringify(off));
const agent = await post("/v1/agents", { name: "Echo", instructions: "", model: "test/echo" });

async function runs(count: number): Promise<void> {
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const { status } = await post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hi" });
      if (status !== "completed") throw new Error(`A run was ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, one));
}

await runs(warm);
const [before, begun] = [threadTimes(server.pid), performance.now()];
await runs(measured);
const after = threadTimes(server.pid);
const elapsed_us = (performance.now() - begun) * 1000;
const written = join(folder, "server.cpuprofile");
process.kill(server.pid, "SIGTERM"); // A regular stop, because the profile is written at exit.
while (!existsSync(written) || !readFileSync(written, "utf8").endsWith("}")) await Bun.sleep(100);
await server[Symbol.asyncDispose]();

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}
const profile = JSON.parse(readFileSync(written, "utf8")) as Profile;
rmSync(folder, { recursive: true });
const parents = new Map(
  profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
);
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const counting = new Set(
  profile.nodes.flatMap(({ id }) => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
      if (nodes.get(at)!.callFrame.url.includes("/server/metrics/")) return [id];
    return [];
  }),
);
let after_us = profile.timeDeltas.reduce((sum, each) => sum + each, 0) - elapsed_us;
const looked = profile.samples.filter((_, at) => {
  after_us -= profile.timeDeltas[at]!;
  return after_us < 0;
});
const names = (id: number) => nodes.get(id)!.callFrame.functionName;
const idle = (id: number) => /^\((idle|program|garbage collector)\)$/.test(names(id));
const atWork = looked.filter((id) => !idle(id));
const found = atWork.filter((id) => counting.has(id));
const took = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
const all = [...after.keys()].reduce((sum, name) => sum + took(name), 0);
const ofMain = found.length / atWork.length;
const percent = (part: number) => `${(100 * part).toFixed(2)} %`;
console.log(
  `${atWork.length} samples of the main thread at work, ${found.length} of them within server/services/metrics.`,
);
console.log(`${percent(ofMain)} of the main thread's work, ${percent((ofMain * took("main")) / all)} of a run's.`);
console.log(
  `A run took ${((1000 * all) / measured).toFixed(0)} µs of processor time (${measured} runs after ${warm}).`,
);
