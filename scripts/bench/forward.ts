/**
 * Measures the cost of a request and of a token that a node forwards, against the same from the leader itself,
 * alternating:
 *
 *   node scripts/run.mjs scripts/bench/forward.ts [--pairs 1000] [--rounds 5]
 */
import { parseArgs } from "node:util";
import { startCluster } from "../../e2e/cluster/nodes.ts";
import { median, processorTime } from "./processes.ts";

const { values } = parseArgs({ options: { pairs: { type: "string" }, rounds: { type: "string" } } });
const [pairs, rounds] = [Number(values.pairs ?? 1000), Number(values.rounds ?? 5)];
const [streams, tokens] = [16, 400];

await using cluster = await startCluster({ nodes: 2 });
const leader = await cluster.leader();
const spare = cluster.nodes.find((node) => node !== leader)!;
const ways = { direct: leader.url, "passed on": spare.url };

async function ask(url: string, path: string, body?: object): Promise<Response> {
  const answer = await cluster.request(url, path, body && { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

async function timed(url: string, path: string, body?: object): Promise<number> {
  const begun = performance.now();
  await (await ask(url, path, body)).arrayBuffer();
  return performance.now() - begun;
}

const create = async (settings: object): Promise<string> =>
  (await (await ask(leader.url, "/v1/agents", { name: "A", instructions: "B", ...settings })).json()).id;

/** Processor time of both nodes, in milliseconds. */
const cpu = () => ({ leader: processorTime(leader.child.pid), spare: processorTime(spare.child.pid) });

const words = "word ".repeat(tokens).trim();
const model_settings = { script: [{ text: words, delta_ms: 5 }] };
const agent_id = await create({ model: "test/script", model_settings });
const text = "x".repeat(500);
const thread = { metadata: { a: text, b: text, c: text, d: text } };

for (const [name, path, body] of [
  ["a read", "/v1/me", undefined],
  ["a write of 2 kB", "/v1/threads", thread],
] as const) {
  for (let n = 0; n < 300; n++) for (const url of Object.values(ways)) await timed(url, path, body); // Warms up.
  const more: number[] = [];
  const direct: number[] = [];
  const before = cpu();
  for (let n = 0; n < pairs; n++) {
    direct.push(await timed(ways.direct, path, body));
    more.push((await timed(ways["passed on"], path, body)) - direct.at(-1)!);
  }
  const after = cpu();
  console.log(
    `${name}: ${median(direct).toFixed(2)} ms, passed on ${median(more).toFixed(2)} ms more (the middle of ${pairs} pairs); ` +
      `processor time of the node that passes on ${((after.spare - before.spare) / pairs).toFixed(2)} ms a request`,
  );
}

const perToken: Record<string, number[]> = { direct: [], "passed on": [] };
for (let round = 0; round <= rounds; round++)
  for (const [way, url] of Object.entries(ways)) {
    const before = cpu();
    await Promise.all(
      Array.from({ length: streams }, () => timed(url, "/v1/runs", { agent_id, input: "Go.", stream: true })),
    );
    const after = cpu();
    const spent = after.leader - before.leader + (after.spare - before.spare);
    if (round > 0) perToken[way]!.push((spent * 1000) / (streams * tokens)); // The first round warms up.
  }
const [direct, passed] = [median(perToken.direct!), median(perToken["passed on"]!)];
console.log(
  `a token: ${direct.toFixed(1)} µs of both nodes, passed on ${passed.toFixed(1)} µs: ${(passed / direct).toFixed(2)} times as much`,
);
