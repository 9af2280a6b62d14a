/**
 * Measures how much one project at full load slows another: `bun scripts/bench/fairness.ts [QUEUE…]`, on the compiled
 * executable, or on RUNNEL_EXECUTABLE. For each queue the quiet project is timed alone and beside the noisy one, each
 * time on a fresh server. It reports and tests nothing; README.md explains the figures.
 */
import { writeFileSync } from "node:fs";
import { startRunnel } from "../../e2e/harness.ts";
import { startLoad } from "./processes.ts";

type Server = Awaited<ReturnType<typeof startRunnel>>;

/** A project's client with its key. */
interface Project {
  fetch: Server["fetch"];
  post(path: string, body: unknown): Promise<Json>;
  get(path: string): Promise<Json>;
  /** Repeats a request from another process. */
  flood(path: string, body: unknown, connections: number): void;
}

// biome-ignore lint/suspicious/noExplicitAny: what the API answers.
type Json = any;

interface Queue {
  /** Returns the function to be timed. */
  quiet(project: Project): Promise<() => Promise<void>>;
  /** Brings the queue to full load, and keeps it there. */
  noisy(project: Project): Promise<void>;
  times: number;
}

const settle_ms = 3000;
// If each piece of work waits for a minute, a few samples are enough.
const longest_ms = 15_000;
const sentence = "The quick brown fox jumps over the lazy dog and reads what the coffee machine says about water. ";

/** Runs whose webhook has arrived, and the resolvers that wait for one. */
const arrived = new Set<string>();
const heard = new Map<string, () => void>();

/** Receives webhooks: `/slow` takes the maximum time; other paths record the runs. */
using receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/slow") await Bun.sleep(14_000);
    else {
      const { run_id } = (await request.json()) as { run_id: string };
      arrived.add(run_id);
      heard.get(run_id)?.();
    }
    return new Response("Taken.");
  },
});

const queues: Record<string, Queue> = {
  runs: {
    times: 200,
    async quiet(project) {
      const run = await echoRun(project);
      return async () => void (await run());
    },
    async noisy(project) {
      project.flood("/v1/runs?wait=60", { agent_id: await echoAgent(project), input: "Go." }, 20);
    },
  },
  programs: {
    times: 120,
    quiet: async (project) => {
      const agent_id = await codeAgent(project, "() => 6 * 7", 1);
      return async () => void (await project.post("/v1/runs?wait=60", { agent_id, input: "Go." }));
    },
    async noisy(project) {
      const agent_id = await codeAgent(project, "() => { for (;;); }", 3);
      project.flood("/v1/runs?wait=60", { agent_id, input: "Go." }, 20);
    },
  },
  webhooks: {
    times: 40,
    async quiet(project) {
      await project.post("/v1/webhooks", { url: `${receiver.url}quiet`, events: ["run.completed"] });
      const run = await echoRun(project);
      return async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const { id } = await run();
        if (arrived.has(id)) return;
        heard.set(id, resolve);
        await promise;
      };
    },
    async noisy(project) {
      for (let index = 0; index < 98; index++)
        await project.post("/v1/webhooks", { url: `${receiver.url}slow`, events: ["run.completed"] });
      const run = await echoRun(project);
      for (let index = 0; index < 8; index++) await run();
    },
  },
  documents: {
    times: 30,
    async quiet(project) {
      return async () => {
        const { id } = await upload(project, "small.txt", sentence);
        await until(async () => (await project.get(`/v1/files/${id}`)).status === "ready");
      };
    },
    async noisy(project) {
      for (let index = 0; index < 40; index++) await upload(project, `large-${index}.txt`, sentence.repeat(40_000));
    },
  },
  indexing: {
    times: 30,
    async quiet(project) {
      const { id: store } = await project.post("/v1/memory", { name: "quiet", kind: "vector" });
      return async () => {
        const { id } = await project.post(`/v1/memory/${store}/entries`, { text: sentence });
        await until(async () => (await project.get(`/v1/memory/${store}/entries/${id}`)).status === "ready");
      };
    },
    async noisy(project) {
      for (let index = 0; index < 6; index++) {
        const { id: store } = await project.post("/v1/memory", { name: `noisy-${index}`, kind: "vector" });
        // Concurrently, because each added text is searchable only after a while.
        const texts = Array.from({ length: 10 }, (_, entry) => `${entry} ${sentence.repeat(1000)}`);
        await Promise.all(texts.map((text) => project.post(`/v1/memory/${store}/entries`, { text })));
      }
    },
  },
  searches: {
    times: 100,
    async quiet(project) {
      const store = await filledStore(project);
      return async () => void (await project.post(`/v1/memory/${store}/search`, { query: "What of water?" }));
    },
    async noisy(project) {
      const store = await filledStore(project);
      project.flood(`/v1/memory/${store}/search`, { query: "What does the fox say?", top_k: 50 }, 32);
    },
  },
  suites: {
    times: 30,
    async quiet(project) {
      const suite = await suiteOf(project, 3);
      return async () => void (await project.post(`/v1/suites/${suite}/runs?wait=60`, {}));
    },
    async noisy(project) {
      project.flood(`/v1/suites/${await suiteOf(project, 20)}/runs?wait=60`, {}, 10);
    },
  },
  imports: {
    times: 400,
    async quiet(project) {
      const trace = await exported(project, 1);
      return async () => void (await project.post("/v1/traces", trace));
    },
    async noisy(project) {
      project.flood("/v1/traces", await exported(project, 15), 8);
    },
  },
};

const wanted = Bun.argv.slice(2);
console.log("| Queue | alone p50, p99 | beside p50, p99 | p99 × |\n| --- | --- | --- | --- |");
for (const [name, queue] of Object.entries(queues)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const [alone, beside] = [await measure(queue, false), await measure(queue, true)];
  const cells = [alone, beside].map(({ p50, p99 }) => `${shown(p50)}, ${shown(p99)} ms`);
  console.log(`| ${name} | ${cells.join(" | ")} | ${(beside.p99 / alone.p99).toFixed(1)} |`);
}
process.exit(0);

async function measure({ quiet, noisy, times }: Queue, isBeside: boolean) {
  await using server = await startRunnel({ keepLimits: true });
  const loads = new DisposableStack();
  try {
    const work = await quiet(await projectOf(server, "quiet", loads));
    for (let warm = 0; warm < 3; warm++) await work();
    if (isBeside) {
      await noisy(await projectOf(server, "noisy", loads));
      await Bun.sleep(settle_ms);
    }
    const took: number[] = [];
    const end = performance.now() + longest_ms;
    while (took.length < times && performance.now() < end) {
      const begun = performance.now();
      await work();
      took.push(performance.now() - begun);
    }
    took.sort((a, b) => a - b);
    return { p50: took[took.length >> 1]!, p99: took[Math.floor(took.length * 0.99)]! };
  } finally {
    loads.dispose();
  }
}

/** Creates another project with the default number of concurrent runs, and without a rate limit on creating them. */
async function projectOf(server: Server, name: string, loads: DisposableStack): Promise<Project> {
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await server.command(...args);
    if (code !== 0) throw new Error(`runnel ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  await command("projects", "create", name);
  const paces = ["--reads-per-minute", "--writes-per-minute", "--run-creations-per-minute"];
  await command("projects", "limits", name, ...paces.flatMap((pace) => [pace, "off"]));
  const { secret: key } = JSON.parse(await command("keys", "create", "--project", name, "--scopes", "admin", "--json"));
  const request = async (path: string, init: RequestInit) => {
    const response = await server.fetch(path, { ...init, key });
    const body: Json = await response.json();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(body)}`);
    return body;
  };
  return {
    fetch: (path, init) => server.fetch(path, { ...init, key }),
    get: (path) => request(path, {}),
    post: (path, body) => request(path, { method: "POST", body: JSON.stringify(body) }),
    flood(path, body, connections) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const file = `${server.folder}/flood-${name}.json`;
      writeFileSync(file, JSON.stringify(body));
      loads.use(
        startLoad({ url: server.url + path, method: "POST", headers, body_file: file, ca: server.ca, connections }),
      );
    },
  };
}

async function echoAgent(project: Project): Promise<string> {
  return (await project.post("/v1/agents", { name: "echo", instructions: "Echo.", model: "test/echo" })).id;
}

/** Creates runs that complete at once. */
async function echoRun(project: Project): Promise<() => Promise<Json>> {
  const agent_id = await echoAgent(project);
  return () => project.post("/v1/runs?wait=60", { agent_id, input: "Go." });
}

/** Creates an agent whose every run makes this many concurrent calls of a program. */
async function codeAgent(project: Project, source: string, calls: number): Promise<string> {
  const parameters = { type: "object", properties: {} };
  const tool = { name: "program", type: "code", language: "javascript", source, timeout_ms: 10_000, parameters };
  const { id } = await project.post("/v1/tools", tool);
  const script = [{ tool_calls: Array(calls).fill({ name: "program", arguments: {} }) }, { text: "Done." }];
  const agent = { name: "coder", instructions: "Run it.", model: "test/script", model_settings: { script } };
  return (await project.post("/v1/agents", { ...agent, tools: [id] })).id;
}

async function upload(project: Project, name: string, text: string): Promise<Json> {
  const form = new FormData();
  form.append("purpose", "retrieval");
  form.append("file", new Blob([text], { type: "text/plain" }), name);
  return (await project.fetch("/v1/files", { method: "POST", body: form })).json();
}

/** Creates a store with two hundred searchable texts. */
async function filledStore(project: Project): Promise<string> {
  const { id } = await project.post("/v1/memory", { name: "store", kind: "vector" });
  for (let entry = 0; entry < 200; entry++)
    await project.post(`/v1/memory/${id}/entries`, { text: `${sentence} Number ${entry}.` });
  const pending = async () => (await project.get(`/v1/memory/${id}/entries?status=processing`)).data.length;
  await until(async () => (await pending()) === 0);
  return id;
}

async function suiteOf(project: Project, cases: number): Promise<string> {
  const run = await echoRun(project);
  const run_ids: string[] = [];
  for (let index = 0; index < cases; index++) run_ids.push((await run()).id);
  return (await project.post("/v1/suites", { name: "suite", run_ids })).id;
}

/** Returns the trace of a run with this many turns. */
async function exported(project: Project, turns: number): Promise<Json> {
  const agent_id = turns === 1 ? await echoAgent(project) : await codeAgent(project, `() => "x".repeat(15_000)`, turns);
  const { id } = await project.post("/v1/runs?wait=60", { agent_id, input: "Go." });
  const trace = await project.get(`/v1/traces/${id}?include=raw&limit=100`);
  // A trace of several pages would be incomplete, and its import refused.
  if (trace.steps_has_more) throw new Error("The trace has more than one page.");
  return trace;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(2);
}

function shown(ms: number): string {
  return ms.toFixed(ms >= 100 ? 0 : 1);
}
