import { expect } from "bun:test";
import type { Json, Runnel } from "./harness.ts";

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** Environment that configures the stub model as the connection `stub`. */
export const stubConnection = (url: string): Record<string, string> => ({
  RUNNEL_MODEL_STUB_BASE_URL: url,
  RUNNEL_MODEL_STUB_API_KEY: "none",
});

/** Creates an agent and returns its id; `model` is a model of the stub unless it names a provider. */
export async function createAgent(server: Runnel, model: string, more: Record<string, unknown> = {}): Promise<string> {
  const name = model.includes("/") ? model : `openai_compatible/stub/${model}`;
  const agent = await server.post("/v1/agents", { name: "Clerk", instructions: "Be brief.", model: name, ...more });
  expect(agent.body).toMatchObject({ object: "agent" });
  return agent.body.id;
}

/** Creates an agent whose built-in model follows a script. */
export const createScripted = (server: Runnel, script: object[], more: Record<string, unknown> = {}): Promise<string> =>
  createAgent(server, "test/script", { ...more, model_settings: { script } });

/** Creates a tool and returns the whole response: its signing secret is shown only now. */
export async function createTool(server: Runnel, more: Record<string, unknown> = {}): Promise<Json> {
  const name = `tool_${crypto.randomUUID().slice(0, 8)}`;
  const tool = await server.post("/v1/tools", { name, description: "Tells the weather.", parameters: city, ...more });
  expect(tool.body).toMatchObject({ object: "tool" });
  return tool.body;
}

/** Starts a run and returns it once it is over or waits. */
export async function runToEnd(server: Runnel, agent_id: string, more: Record<string, unknown> = {}): Promise<Json> {
  const run = await server.post("/v1/runs?wait=60", { agent_id, input: "How is the weather?", ...more });
  expect(run).toMatchObject({ status: 201 });
  return run.body;
}
