/**
 * Measures the cost of a cluster against a single machine: the same executable with and without `--cluster`,
 * alternating, over a Postgres on loopback with a synchronous standby on the same disk:
 *
 *   node scripts/run.mjs scripts/bench/cluster.ts
 */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startCluster } from "../../e2e/cluster/nodes.ts";
import { startRunnel } from "../../e2e/harness.ts";
import { serverPid } from "../../e2e/process-figures.ts";
import { startPostgres } from "../../server/testing/postgres.ts";

const { values } = parseArgs({ options: { rounds: { type: "string" }, runs: { type: "string" } } });
const [rounds, runs] = [Number(values.rounds ?? 3), Number(values.runs ?? 400)];

interface Server {
  /** Process id whose processor time is measured. */
  pid(): number;
  post(path: string, body: object): Promise<Response>;
}

await using single = await startRunnel({ flags: ["--insecure-http", "--workers", "1"] });
await using postgres = await startPostgres({ standby: true });
await using cluster = await startCluster({ nodes: 1, postgres });
await using engine = new Bun.SQL(postgres.primary.url, { max: 1 });
await engine.unsafe("CREATE TABLE probe (bytes bytea)");
const [node] = cluster.nodes;
const json = (body: object) => ({ method: "POST", body: JSON.stringify(body) });
const servers: Record<string, Server> = {
  "one machine": { pid: () => serverPid(single.dataDir), post: (path, body) => single.fetch(path, json(body)) },
  cluster: { pid: () => node!.child.pid, post: (path, body) => cluster.request(node!.url, path, json(body)) },
};

/** Processor time of all threads of a process, in milliseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const engineCpu = (): number =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isPostgres(name))
    .reduce((sum, name) => sum + cpuOf(Number(name)), 0);

function isPostgres(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("postgres");
  } catch {
    return false;
  }
}

/** Number of bytes that the node has sent to Postgres. */
async function sentBytes(): Promise<number> {
  const text = await (await cluster.request(node!.url, "/metrics")).text();
  return Number(/^runnel_cluster_bytes_total (\S+)$/m.exec(text)![1]);
}

/** Milliseconds of a commit in Postgres alone: a kilobyte to both disks. */
async function commit(): Promise<number> {
  const begun = performance.now();
  await engine.unsafe("INSERT INTO probe (bytes) VALUES ($1)", [Buffer.alloc(1000, 7)]);
  return performance.now() - begun;
}

const agents = new Map<string, string>();
for (const [name, server] of Object.entries(servers)) {
  const agent = { name: "Echo", instructions: "Be brief.", model: "test/echo" };
  agents.set(name, (await (await server.post("/v1/agents", agent)).json()).id);
}
const input = "word ".repeat(140).trim();
async function run(name: string): Promise<number> {
  const begun = performance.now();
  const answer = await servers[name]!.post("/v1/runs?wait=30", { agent_id: agents.get(name), input });
  const body = await answer.json();
  if (body.status !== "completed") throw new Error(JSON.stringify(body));
  return performance.now() - begun;
}

const median = (all: number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!;

for (const name of agents.keys()) for (let n = 0; n < 100; n++) await run(name); // Warms up.
const found: Record<string, Record<string, number[]>> = {};
for (let round = 0; round < rounds; round++)
  for (const name of agents.keys()) {
    found[name] ??= { alone_ms: [], alone_cpu_ms: [], runs_s: [], cpu_ms: [], engine_ms: [], kb: [], commit_ms: [] };
    const figures = found[name];
    const before = { cpu: cpuOf(servers[name]!.pid()) };
    const alone: number[] = [];
    for (let n = 0; n < runs / 4; n++) alone.push(await run(name));
    figures.alone_ms!.push(median(alone));
    figures.alone_cpu_ms!.push((cpuOf(servers[name]!.pid()) - before.cpu) / (runs / 4));
    const commits: number[] = [];
    for (let n = 0; n < runs / 4; n++) commits.push(await commit());
    figures.commit_ms!.push(median(commits));
    const [cpu, ofEngine, sent, begun] = [
      cpuOf(servers[name]!.pid()),
      engineCpu(),
      await sentBytes(),
      performance.now(),
    ];
    let left = runs;
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        while (left-- > 0) await run(name);
      }),
    );
    figures.runs_s!.push((runs * 1000) / (performance.now() - begun));
    figures.cpu_ms!.push((cpuOf(servers[name]!.pid()) - cpu) / runs);
    figures.engine_ms!.push((engineCpu() - ofEngine) / runs);
    figures.kb!.push(((await sentBytes()) - sent) / runs / 1000);
  }
for (const [name, figures] of Object.entries(found))
  console.log(
    name,
    Object.fromEntries(Object.entries(figures).map(([key, all]) => [key, Number(median(all).toFixed(2))])),
  );
