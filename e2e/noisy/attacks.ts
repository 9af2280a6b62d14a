import { constants, setPriority } from "node:os";

/**
 * Attacks of a project with a valid key, in a process of its own: `bun attacks.ts '<Order as JSON>'`. It knows nothing
 * of the other project. Exits by itself, and prints a `Report`.
 */

/** Target, key and duration of the attacks. */
export interface Order {
  url: string;
  ca: string;
  key: string;
  seconds: number;
  /** Names of attacks; all by default. */
  only?: string[];
}

export interface Report {
  /** Number of responses by attack and status; 0 is no response. */
  statuses: Record<string, Record<number, number>>;
  /** Failures of the preparation, and responses that no attack may cause: 500. */
  faults: string[];
  /** Ids of acknowledged runs. */
  runs: string[];
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an attacker looks at whatever comes.
  body: any;
}

const size = 4 * 1024 * 1024 - 64;
const ones = `[${"1,".repeat(size / 2 - 1)}1]`;
const page = `<html>${'<p class="a">It&#39;s &amp; was 5%2B.</p>\n'.repeat(size / 45)}</html>`;
/** Milliseconds, slightly less than a receiver may take. */
const held_ms = 14_000;

if (import.meta.main) {
  // Low priority, because the attacker stands for another machine and should not take the server's core.
  setPriority(constants.priority.PRIORITY_LOW);
  process.stdout.write(JSON.stringify(await attack(JSON.parse(process.argv[2]!))));
}

async function attack({ url, ca, key, seconds, only }: Order): Promise<Report> {
  const report: Report = { statuses: {}, faults: [], runs: [] };
  const ends = Date.now() + seconds * 1000;
  const over = AbortSignal.timeout(seconds * 1000 + 20_000);
  using world = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/hold") await Bun.sleep(held_ms);
      if (pathname === "/page") return new Response(page, { headers: { "content-type": "text/html" } });
      if (pathname === "/ones") return new Response(ones, { headers: { "content-type": "application/json" } });
      return new Response("{}");
    },
  });
  const there = `http://127.0.0.1:${world.port}`;

  async function send(name: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const counts = report.statuses[name] ?? {};
    report.statuses[name] = counts;
    const sent =
      body === undefined || typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body);
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (typeof sent === "string") headers["content-type"] = "application/json";
    try {
      const response = await fetch(`${url}${path}`, { method, body: sent, headers, tls: { ca }, signal: over });
      const text = await response.text();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
      if (response.status === 500) report.faults.push(`${name}: ${method} ${path}: ${text.slice(0, 300)}`);
      const answer = { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
      if (/^run_/.test(answer.body?.id ?? "") && response.status === 201) report.runs.push(answer.body.id);
      return answer;
    } catch {
      // The server may cut its requests off for taking too long; the other project checks the server's health.
      counts[0] = (counts[0] ?? 0) + 1;
      return { status: 0, body: null };
    }
  }

  /** Repeats the act in this many lanes; after a refusal a short pause, shorter than Retry-After. */
  async function again(lanes: number, act: (lane: number) => Promise<Answer>): Promise<void> {
    const lane = async (_: unknown, index: number) => {
      while (Date.now() < ends) {
        const { status } = await act(index);
        await Bun.sleep(status === 429 || status === 0 ? 250 : 20);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  const make = async (path: string, body: unknown): Promise<string> => {
    const { status, body: made } = await send("set-up", "POST", path, body);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(made).slice(0, 500)}`);
    return made.id;
  };
  const tool = (more: object) =>
    make("/v1/tools", {
      name: `t_${crypto.randomUUID().slice(0, 8)}`,
      description: "Does it.",
      ...more,
    });
  const agent = (script: object[], more: object = {}) =>
    make("/v1/agents", {
      name: "a",
      instructions: "x".repeat(100_000),
      model: "test/script",
      model_settings: { script },
      ...more,
    });

  const secrets = Object.fromEntries(
    Array.from({ length: 8 }, (_, header) => [
      `X-Secret-${header}`,
      Array.from({ length: 24 }, (_, part) => `secret-${header}-${part}`).join(","),
    ]),
  );
  const onesTool = await tool({ parameters: {}, url: `${there}/ones`, method: "GET", headers: secrets });
  const pageTool = await tool({
    parameters: {},
    url: `${there}/page`,
    method: "GET",
    response: "text",
    headers: secrets,
  });
  const endless = await tool({
    parameters: {},
    type: "code",
    language: "javascript",
    source: "() => { for (;;) {} }",
    timeout_ms: 5000,
  });
  const names = async (id: string) => (await send("set-up", "GET", `/v1/tools/${id}`)).body.name as string;
  const pageName = await names(pageTool);
  const large = await agent(
    [{ tool_calls: Array.from({ length: 10 }, () => ({ name: pageName, arguments: {} })) }, { text: "Done." }],
    { tools: [pageTool] },
  );
  const talker = await agent([{ text: "word ".repeat(20_000) }]);
  const bomb = await agent([{ text: "Nothing." }]);
  const bombTool = await tool({ type: "agent", agent_id: bomb });
  const bombName = await names(bombTool);
  const calls = Array.from({ length: 128 }, () => ({ name: bombName, arguments: { input: "Again." } }));
  await send("set-up", "PATCH", `/v1/agents/${bomb}`, {
    tools: [bombTool],
    model_settings: { script: [{ tool_calls: calls }, { text: "Done." }] },
  });
  const memory = await make("/v1/memory", { name: "m", kind: "vector", scope: "project" });
  for (let index = 0; index < 90; index++)
    await make("/v1/webhooks", { url: `${there}/hold`, events: ["run.completed", "run.failed"] });

  const run = (name: string, agent_id: string) =>
    send(name, "POST", "/v1/runs", { agent_id, input: "Go.", on_concurrency_limit: "queue" });
  const test = (name: string, id: string) => send(name, "POST", `/v1/tools/${id}/test`, { arguments: {} });
  const sentence = "All that was said of it, and of much else besides, at length. ";
  const upload = (name: string) => {
    const form = new FormData();
    form.set("purpose", "retrieval");
    form.set("memory_id", memory);
    form.set(
      "file",
      new File([`${crypto.randomUUID()} ${sentence.repeat(16_000)}`], "said.txt", { type: "text/plain" }),
    );
    return send(name, "POST", "/v1/files", form);
  };
  const lists = ["runs?limit=100", "runs?limit=100&include=messages", "agents?limit=100", "traces?limit=100"];
  const garbage = ['{"a":'.repeat(200_000), "[".repeat(900_000), `{"agent_id":"${"x".repeat(900_000)}"}`, "1e999"];
  const steps = `{"object":"trace","steps":[${"{},".repeat(200_000)}{}]}`;
  const query = sentence.repeat(100);
  let count = 0;

  /** Number of concurrent lanes and the act, by attack. */
  const attacks: Record<string, [lanes: number, act: (name: string, lane: number) => Promise<Answer>]> = {
    masking: [2, (name) => test(name, onesTool)],
    "large runs": [1, (name) => run(name, large)],
    lists: [4, (name, lane) => send(name, "GET", `/v1/${lists[lane]}`)],
    tree: [1, (name) => run(name, bomb)],
    "endless code": [20, (name) => test(name, endless)],
    "slow receivers": [1, (name) => run(name, talker)],
    documents: [1, upload],
    searches: [4, (name) => send(name, "POST", `/v1/memory/${memory}/search`, { query })],
    garbage: [2, (name) => send(name, "POST", "/v1/runs", garbage[count++ % garbage.length])],
    imports: [1, (name) => send(name, "POST", "/v1/traces", steps)],
  };
  const chosen = Object.entries(attacks).filter(([name]) => !only || only.includes(name));
  await Promise.all(chosen.map(([name, [lanes, act]]) => again(lanes, (lane) => act(name, lane))));
  return report;
}
