import type { Json, Runnel } from "../harness.ts";

/** Actions of a quiet project, by name: each of these is timed. */
type Visits = Record<string, () => Promise<void>>;

/** Creates a project that does a little of everything, and waits for each result. */
export async function quietProject(server: Runnel) {
  const heard = new Map<string, PromiseWithResolvers<void>>();
  const arrival = (run: string) => {
    const known = heard.get(run) ?? Promise.withResolvers<void>();
    heard.set(run, known);
    return known;
  };
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      arrival(((await request.json()) as Json).data.object.id).resolve();
      return new Response("{}");
    },
  });
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await server.post(path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  const agent_id = await make("/v1/agents", { name: "Clerk", instructions: "Be brief.", model: "test/echo" });
  const program = await make("/v1/tools", {
    name: "sum",
    description: "Adds.",
    type: "code",
    language: "javascript",
    source: "() => 1 + 1",
    parameters: { type: "object" },
  });
  const memory = await make("/v1/memory", { name: "notes", kind: "vector", scope: "project" });
  for (const text of ["The key is under the mat.", "Trains leave at noon.", "It rains in Bergen."])
    await make(`/v1/memory/${memory}/entries`, { text });
  await make("/v1/webhooks", { url: `http://127.0.0.1:${receiver.port}/`, events: ["run.completed"] });

  const ended: string[] = [];
  const expectOk = (what: string, status: number, body: Json): void => {
    if (status !== 200 && status !== 201) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  };
  const visits: Visits = {
    async read() {
      const { status, body } = await server.get(`/v1/agents/${agent_id}`);
      expectOk("read", status, body);
    },
    async run() {
      const { status, body } = await server.post("/v1/runs?wait=60", { agent_id, input: "How is it?" });
      expectOk("run", status, body);
      if (body.status !== "completed") throw new Error(`A run ended ${body.status}: ${JSON.stringify(body.error)}`);
      ended.push(body.id);
    },
    /** Times the webhook of the last run's end. */
    async webhook() {
      await arrival(ended.at(-1)!).promise;
    },
    async code() {
      const { status, body } = await server.post(`/v1/tools/${program}/test`, { arguments: {} });
      expectOk("code", status, body);
      if (body.output?.result !== 2) throw new Error(`A program returned ${JSON.stringify(body)}`);
    },
    async search() {
      const { status, body } = await server.post(`/v1/memory/${memory}/search`, { query: "Where is the key?" });
      expectOk("search", status, body);
      if (body.data[0]?.text !== "The key is under the mat.") throw new Error(`It found ${JSON.stringify(body.data)}`);
    },
  };
  return {
    visits,
    /** Ids of its completed runs. */
    runs: (): readonly string[] => ended,
    /** Ids of its runs whose webhook has not arrived. */
    unheard: (): string[] => ended.filter((id) => Bun.peek.status(arrival(id).promise) === "pending"),
    [Symbol.dispose]: () => void receiver.stop(true),
  };
}

/** Starts a bare server in another process: the machine's own latency for a response of five bytes. */
export async function startBareServer() {
  const source =
    'process.stdout.write(String(Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") }).url))';
  const child = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  return {
    async visit(): Promise<void> {
      await (await fetch(url)).text();
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** Repeats the visits while `go()`. Returns the durations of each in milliseconds, ascending. */
export async function timeVisits(visits: Visits, go: () => boolean): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(visits).map((name) => [name, []]));
  while (go())
    for (const [name, visit] of Object.entries(visits)) {
      const began = performance.now();
      await within(name, visit());
      times[name]!.push(performance.now() - began);
      await Bun.sleep(20);
    }
  for (const each of Object.values(times)) each.sort((a, b) => a - b);
  return times;
}

const patience_ms = 60_000;

/** Awaits the work; a timeout names it. */
async function within(name: string, work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`"${name}" took more than ${patience_ms} ms.`)), patience_ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** Returns the quantile of ascending values. */
export const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? Number.NaN;
