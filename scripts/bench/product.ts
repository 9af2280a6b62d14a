import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "../root.ts";
import type { Load } from "./load.ts";
import { type StartedProcess, start } from "./processes.ts";

interface Line {
  address: string;
  cacert: string | null;
  keys: { test: string };
}

export type Product = Awaited<ReturnType<typeof startProduct>>;

interface ProductOptions {
  /** Parent folder of the data directory. */
  parent: string;
  model: string;
  tls: boolean;
  /** Command of the server; default: the compiled executable. */
  command?: string[];
}

const compiled = [process.env.RUNNEL_EXECUTABLE ?? inProject("dist/runnel")];

/** Starts a server on a fresh data directory, without the limits that would end the measurement. */
export async function startProduct({ parent, model, tls, command = compiled }: ProductOptions) {
  const folder = mkdtempSync(join(parent, "runnel-bench-"));
  const dataDir = join(folder, "data");
  const env = { RUNNEL_MODEL_BENCH_BASE_URL: `${model}/v1`, RUNNEL_MODEL_BENCH_API_KEY: "none" };
  const begun = performance.now();
  const flags = ["serve", "--json", "--port", "0", "--data-dir", dataDir, ...(tls ? [] : ["--insecure-http"])];
  const server: StartedProcess<Line> = await start([...command, ...flags], { env, cwd: folder, core: "system" });
  const { address, cacert, keys } = server.line;
  const ca = cacert ? readFileSync(cacert, "utf8") : undefined;
  const headers = { authorization: `Bearer ${keys.test}`, "content-type": "application/json" };
  await fetch(`${address}/healthz`, { tls: { ca } });
  const first200_ms = performance.now() - begun;
  liftLimits(join(dataDir, "runnel.db"));

  async function post(path: string, body: object): Promise<{ id: string }> {
    const response = await fetch(`${address}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      tls: { ca },
    });
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { id: string };
  }

  const parameters = { type: "object", properties: {} };
  const tool = await post("/v1/tools", { name: "bench_tool", parameters, url: `${model}/tool` });
  const agents = new Map<string, string>();
  async function agent(name: string): Promise<string> {
    const body = { name, instructions: "Be quick.", model: `openai_compatible/bench/${name}`, tools: [tool.id] };
    const id = agents.get(name) ?? (await post("/v1/agents", body)).id;
    agents.set(name, id);
    return id;
  }

  return {
    pid: server.pid,
    database: join(dataDir, "runnel.db"),
    first200_ms,
    /** Reads one agent. */
    read: async (): Promise<Omit<Load, "connections">> => ({
      url: `${address}/v1/agents/${await agent("t1-d0")}`,
      headers,
      ca,
    }),
    /** Writes one agent. */
    write: async (): Promise<Omit<Load, "connections">> => ({
      url: `${address}/v1/agents/${await agent("t1-d0")}`,
      method: "PATCH",
      headers,
      ca,
      body: JSON.stringify({ metadata: { bench: "yes" } }),
    }),
    /** Reads a page of runs. */
    list: (): Omit<Load, "connections"> => ({ url: `${address}/v1/runs?limit=20`, headers, ca }),
    /** Creates runs of a model and waits for the end of each. */
    run: async (name: string): Promise<Omit<Load, "connections">> => ({
      url: `${address}/v1/runs?wait=60`,
      method: "POST",
      headers,
      ca,
      body: JSON.stringify({ agent_id: await agent(name), input: "Go." }),
      expect: '"status":"completed"',
    }),
    /** Reads a path. */
    get: (path: string): Omit<Load, "connections"> => ({ url: `${address}${path}`, headers, ca }),
    /** Creates runs of a model and reads each as a stream. */
    stream: async (name: string): Promise<Omit<Load, "connections">> => ({
      url: `${address}/v1/runs`,
      method: "POST",
      headers,
      ca,
      body: JSON.stringify({ agent_id: await agent(name), input: "Go.", stream: true }),
      events: "runnel",
      expect: "event: run.completed",
    }),
    tlsFiles: { cert: join(dataDir, "tls/cert.pem"), key: join(dataDir, "tls/key.pem") },
    ca,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function liftLimits(path: string): void {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  const off = { reads_per_minute: 0, run_creations_per_minute: 0, writes_per_minute: 0, runs_in_progress: 0 };
  db.query("UPDATE projects SET settings = ?").run(JSON.stringify(off));
  db.close();
}
