import { expect } from "bun:test";
import { capsuleType } from "../domain/capsule-format.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import type { TraceStep } from "../domain/trace.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import type { Answer } from "./expect-declared.ts";
import type { Client, TestApp } from "./test-app.ts";

type Server = Pick<TestApp, "app">;

/** Returns the bytes of a run's capsule. */
export async function capsuleOf(
  server: Server,
  client: Client,
  id: string,
  query = "",
): Promise<Uint8Array<ArrayBuffer>> {
  const headers = { authorization: `Bearer ${client.key.secret}` };
  const response = await server.app.handle(new Request(`http://localhost/v1/runs/${id}/capsule${query}`, { headers }));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, capsuleType]);
  return new Uint8Array(await response.arrayBuffer());
}

/** Sends a capsule unchanged, valid or not. */
export async function importCapsule(server: Server, client: Client, body: Uint8Array<ArrayBuffer>): Promise<Answer> {
  const headers = { authorization: `Bearer ${client.key.secret}`, "content-type": capsuleType };
  const request = new Request("http://localhost/v1/traces", { method: "POST", headers, body });
  const response = await server.app.handle(request);
  return { status: response.status, body: parseExact(await response.text()), headers: response.headers };
}

/** Returns the whole export of a run as JSON: the first page, with the steps of the other pages appended. */
// biome-ignore lint/suspicious/noExplicitAny: tests take it apart and put nonsense in its place.
export async function exportOf(client: Client, id: string, limit = 100): Promise<any> {
  const path = `/v1/traces/${id}?include=raw&limit=${limit}`;
  const { body: whole } = await client.get(path);
  while (whole.steps_has_more) {
    const { body } = await client.get(`${path}&starting_after=${whole.steps.at(-1).id}`);
    whole.steps.push(...body.steps);
    whole.steps_has_more = body.steps_has_more;
  }
  return whole;
}

/** Returns the steps of a run and of all its descendants. */
export async function stepsOf(client: Client, id: string): Promise<TraceStep[]> {
  const { body } = await client.get(`/v1/traces/${id}?include=subagents&limit=100`);
  return body.steps;
}

async function make(client: Client, path: string, body: object): Promise<string> {
  const made = await client.post(path, body);
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  return made.body.id;
}

const agent = (name: string, script: ScriptEntry[], more: object) => ({
  name,
  instructions: "Be brief.",
  model: "test/script",
  model_settings: { script },
  ...more,
});

export const canary = "canary-header-value";

/** Creates a run with everything that a run can have without a network: tools, a subagent, guardrails. */
export async function richRun(client: Client, address: string, said = "Go.") {
  const deep = await make(client, "/v1/agents", agent("Deep", [{ text: "Deep down." }], {}));
  const tools = [
    await make(client, "/v1/tools", {
      name: "look",
      url: `${address}/path?key=canary-in-the-query`,
      headers: { "x-key": canary },
    }),
    await make(client, "/v1/tools", { name: "ask_deep", type: "agent", agent_id: deep }),
  ];
  const script: ScriptEntry[] = [
    { reasoning: "Hm.", tool_calls: [{ name: "look", arguments: { q: 1 } }] },
    { tool_calls: [{ name: "ask_deep", arguments: { input: said } }] },
    { text: "All done." },
  ];
  const guardrails = [{ type: "max_length", on: ["input"], action: "flag", config: { max_length: 3 } }];
  const agent_id = await make(client, "/v1/agents", agent("Top", script, { tools, guardrails }));
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hello there", metadata: { team: "red" } });
  expect([body.status, body.output]).toEqual(["completed", "All done."]);
  return body;
}
