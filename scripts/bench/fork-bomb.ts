/**
 * Measures how a run that calls its own agent 128 times affects other projects: `bun scripts/bench/fork-bomb.ts
 * [SECONDS]`. A project starts the bomb on the executable, and a second one whose runs never end, which it cancels;
 * another project creates one run after the other beside it. It reports and tests nothing; README.md explains the
 * figures.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../root.ts";
import { median, memory, start, timed } from "./processes.ts";

const seconds = Number(process.argv[2] ?? 15);
const calls = 128;
const program = process.env.RUNNEL_EXECUTABLE ?? inProject("dist/runnel");
const folder = mkdtempSync(join(tmpdir(), "runnel-bomb-"));
const dataDir = join(folder, "data");

interface Line {
  address: string;
  keys: { test: string };
}

try {
  const flags = ["--json", "--port", "0", "--insecure-http", "--data-dir", dataDir];
  await using server = await start<Line>([program, "serve", ...flags], { cwd: folder });
  const noisy = client(server.line.address, server.line.keys.test);
  const quiet = client(server.line.address, await otherKey());
  const echo = (await quiet("POST", "/v1/agents", { name: "echo", model: "test/echo", instructions: "Echo." })).id;
  const bomb = await createBomb(noisy, "bomb", 0);
  const lasting = await createBomb(noisy, "lasting", 600_000);
  const runQuietly = () => timed(() => quiet("POST", "/v1/runs?wait=60", { agent_id: echo, input: "Hello" }));
  const alone = await during(3, runQuietly);

  const rss_before = memory(server.pid);
  let rss_max = 0;
  const sampling = setInterval(() => {
    rss_max = Math.max(rss_max, memory(server.pid));
  }, 50);
  const { id } = await noisy("POST", "/v1/runs", { agent_id: bomb, input: "Go" });
  const [beside, looks] = await Promise.all([
    during(seconds, runQuietly),
    during(seconds, () => timed(() => fetch(`${server.line.address}/healthz`))),
  ]);
  const { status } = await noisy("GET", `/v1/runs/${id}`);
  const children = countChildren();
  await noisy("POST", `/v1/runs/${id}/cancel`);
  const tree = await noisy("POST", "/v1/runs", { agent_id: lasting, input: "Go" });
  await during(5, runQuietly);
  const cancelled = countChildren("AND ended_at_ms IS NULL");
  const cancel_ms = await timed(() => noisy("POST", `/v1/runs/${tree.id}/cancel`));
  const after = await timed(() => fetch(`${server.line.address}/healthz`));
  clearInterval(sampling);
  console.log({
    children,
    "the bomb's run before it was cancelled": status,
    "another project's run alone, p50 and longest, ms": shown(alone),
    "another project's run beside it, p50 and longest, ms": shown(beside),
    "healthz beside it, p50 and longest, ms": shown(looks),
    "runs that a cancel ended": cancelled,
    "left over": countChildren("AND ended_at_ms IS NULL"),
    "the cancel, and the request behind it, ms": [cancel_ms, after].map(Math.round),
    "RSS before and at most, MiB": [Math.round(rss_before), Math.round(rss_max)],
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Client = ReturnType<typeof client>;

function client(address: string, key: string) {
  return async (method: string, path: string, body?: object): Promise<{ id: string; status: string }> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await fetch(`${address}${path}`, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok && answer.status !== 409) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return (await answer.json()) as { id: string; status: string };
  };
}

/** Creates another project's key on the server's machine. */
async function otherKey(): Promise<string> {
  const made = ["--project", "quiet", "--create-project", "--env", "test", "--scopes", "admin", "--json"];
  const command = Bun.spawn([program, "keys", "create", ...made, "--data-dir", dataDir], { stderr: "inherit" });
  return JSON.parse(await new Response(command.stdout).text()).secret;
}

/** Creates an agent whose every answer calls itself. */
async function createBomb(send: Client, name: string, delay_ms: number): Promise<string> {
  const tool_calls = Array.from({ length: calls }, () => ({ name: `again_${name}`, arguments: { input: "Go" } }));
  const script = [{ tool_calls }, { text: "Done.", delay_ms }];
  const agent = { name, model: "test/script", instructions: "Call yourself.", model_settings: { script } };
  const { id } = await send("POST", "/v1/agents", agent);
  const tool = await send("POST", "/v1/tools", {
    name: `again_${name}`,
    type: "agent",
    agent_id: id,
    description: "Again.",
  });
  await send("PATCH", `/v1/agents/${id}`, { tools: [tool.id] });
  return id;
}

/** Repeats the work sequentially for this time, at a pace below the rate limits. */
async function during(length: number, work: () => Promise<number>): Promise<number[]> {
  const taken: number[] = [];
  for (const end = performance.now() + length * 1000; performance.now() < end; await Bun.sleep(200))
    taken.push(await work());
  return taken;
}

function countChildren(and = ""): number {
  using db = new Database(join(dataDir, "runnel.db"), { readonly: true });
  return db.query<{ n: number }, []>(`SELECT count(*) AS n FROM runs WHERE parent_run_id IS NOT NULL ${and}`).get()!.n;
}

function shown(times: readonly number[]): number[] {
  return [median(times), Math.max(...times)].map(Math.round);
}
