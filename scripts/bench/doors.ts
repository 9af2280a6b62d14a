/**
 * Measures the latency of the streaming protocols over `/v1/runs`: `bun scripts/bench/doors.ts`, on the executable
 * (`RUNNEL_EXECUTABLE`, by default dist/runnel). They alternate: first one stream after the other, to its first text;
 * then 20 concurrent streams of 200 tokens, one every 5 ms. It reports and tests nothing; README.md explains the
 * figures.
 */
import { tmpdir } from "node:os";
import { median, processorTime, start } from "./processes.ts";
import { startProduct } from "./product.ts";

const [firsts, warm, rounds, streams, tokens] = [200, 50, 6, 20, 200];

await using model = await start<{ url: string }>([process.execPath, `${import.meta.dir}/model.ts`]);
await using product = await startProduct({ parent: tmpdir(), model: model.line.url, tls: false });

interface Way {
  path: (agent: string) => string;
  body: (agent: string) => object;
  /** Substring of the first piece that has text. */
  mark: string;
}

const messages = [{ role: "user", content: "Go." }];
const ways: Record<string, Way> = {
  "/v1/runs": {
    path: () => "/v1/runs",
    body: (agent_id) => ({ agent_id, input: "Go.", stream: true }),
    mark: "event: token",
  },
  // The equivalent of a new chat of the protocols below, by the API.
  "/v1/runs (a thread)": {
    path: () => "/v1/runs",
    body: (agent_id) => ({ agent_id, input: "Go.", stream: true, thread_id: "new" }),
    mark: "event: token",
  },
  "/chat/completions": {
    path: () => "/openai/v1/chat/completions",
    body: (agent) => ({ model: agent, messages, stream: true }),
    mark: '"delta":{"content"',
  },
  "/responses": {
    path: () => "/openai/v1/responses",
    body: (agent) => ({ model: agent, input: "Go.", stream: true }),
    mark: "event: response.output_text.delta",
  },
  "/ui (a new chat)": {
    path: (agent) => `/ui/v1/agents/${agent}/chat`,
    body: () => ({
      id: crypto.randomUUID(),
      messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "Go." }] }],
    }),
    mark: '"type":"text-delta"',
  },
  "/ag-ui (a new chat)": {
    path: (agent) => `/ag-ui/v1/agents/${agent}`,
    body: () => ({
      threadId: crypto.randomUUID(),
      runId: crypto.randomUUID(),
      state: {},
      tools: [],
      context: [],
      forwardedProps: {},
      messages: [{ id: "m1", role: "user", content: "Go." }],
    }),
    mark: '"TEXT_MESSAGE_CONTENT"',
  },
  "/a2a (a new task)": {
    path: (agent) => `/a2a/v1/agents/${agent}`,
    body: () => ({
      jsonrpc: "2.0",
      id: 1,
      method: "SendStreamingMessage",
      params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Go." }] } },
    }),
    mark: '"artifactUpdate"',
  },
};

const names = Object.keys(ways);
const quick = await agentOf("t1-d0");
const paced = await agentOf(`t${tokens}-d5`);

/** Returns the milliseconds to the first text, and reads on to the end. */
async function stream({ path, body, mark }: Way, agent: string): Promise<number> {
  const { url, headers } = await product.stream("t1-d0");
  const begun = performance.now();
  const response = await fetch(new URL(path(agent), url), {
    method: "POST",
    headers,
    body: JSON.stringify(body(agent)),
  });
  let first = Number.NaN;
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    if (!Number.isNaN(first)) continue;
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(mark)) first = performance.now() - begun;
  }
  if (Number.isNaN(first)) throw new Error(`${path(agent)} said no text: ${text}`);
  return first;
}

async function agentOf(name: string): Promise<string> {
  const { url, headers, body } = await product.stream(name);
  const { agent_id } = JSON.parse(String(body)) as { agent_id: string };
  const doors = JSON.stringify({ doors: { a2a: true } });
  await fetch(new URL(`/v1/agents/${agent_id}`, url), { method: "PATCH", headers, body: doors });
  return agent_id;
}

const first: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
for (let turn = 0; turn < warm + firsts; turn++)
  for (const name of names) {
    const ms = await stream(ways[name]!, quick);
    if (turn >= warm) first[name]!.push(ms);
  }

const cost: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
for (let round = -1; round < rounds; round++)
  for (const name of names) {
    const before = processorTime(product.pid);
    await Promise.all(Array.from({ length: streams }, () => stream(ways[name]!, paced)));
    if (round >= 0) cost[name]!.push(((processorTime(product.pid) - before) * 1000) / (streams * tokens));
  }

for (const name of names) {
  const [ms, us] = [median(first[name]!), median(cost[name]!)];
  const [overRuns, timesRuns] = [ms - median(first["/v1/runs"]!), us / median(cost["/v1/runs"]!)];
  console.log(
    `${name.padEnd(20)} first text ${ms.toFixed(2)} ms (${overRuns.toFixed(2)} over /v1/runs), ` +
      `${us.toFixed(1)} µs of processor time a token (${timesRuns.toFixed(2)} ×)`,
  );
}
