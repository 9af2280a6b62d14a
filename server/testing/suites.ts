import { expect } from "bun:test";
import type { Answer } from "./expect-declared.ts";
import type { Client } from "./test-app.ts";

/** Creates an agent that asks a client tool for the weather and reports it. */
export async function weatherAgent(client: Client, more: object = {}): Promise<{ agent: string; tool: string }> {
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const tool = (await client.post("/v1/tools", { name: "weather", parameters })).body.id;
  const script = [{ tool_calls: [{ name: "weather", arguments: { city: "Oslo" } }] }, { text: "21 degrees." }];
  const { body, status } = await client.post("/v1/agents", {
    name: "a",
    instructions: "Say it.",
    model: "test/script",
    model_settings: { script },
    tools: [tool],
    ...more,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return { agent: body.id, tool };
}

/** Completes a run of such an agent; returns its id. */
export async function weatherRun(client: Client, agent_id: string): Promise<string> {
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id, input: "Oslo?" });
  const tool_outputs = [{ tool_call_id: run.tool_calls[0].id, output: { celsius: 21 } }];
  await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
  return waitUntilCompleted(client, run.id);
}

/** Waits until a run is completed; returns its id. */
export async function waitUntilCompleted(client: Client, id: string): Promise<string> {
  for (;;) {
    const { status } = (await client.get(`/v1/runs/${id}`)).body;
    if (status === "completed") return id;
    expect(["in_progress", "queued"]).toContain(status);
    await Bun.sleep(1);
  }
}

/** Creates an agent that echoes its input, and completes a run of it. */
export async function echoRun(client: Client, more: object = {}): Promise<{ agent: string; run: string }> {
  const agent = (await client.post("/v1/agents", { name: "e", instructions: "Echo.", model: "test/echo", ...more }))
    .body.id;
  return { agent, run: (await client.post("/v1/runs?wait=60", { agent_id: agent, input: "Hello" })).body.id };
}

/** Creates a suite that pins these runs; returns its id. */
export async function suiteOf(client: Client, run_ids: string[], more: object = {}): Promise<string> {
  const { status, body } = await client.post("/v1/suites", { name: "weather", run_ids, ...more });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.id;
}

/** Runs a suite and returns its results. */
export async function runSuite(client: Client, suite: string, body: object = {}): Promise<Answer["body"]> {
  const answer = await client.post(`/v1/suites/${suite}/runs?wait=60`, body);
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  return answer.body;
}

/** Returns the validation issues of a body: each parameter with its code. */
export const codesOf = ({ body }: Answer): string[] =>
  body.error.errors.map(({ param, code }: Record<string, string>) => `${param} ${code}`);
