import type { AgentListItem as Agent } from "../../../../server/agents/schema.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** A key with its secret, as its creation answers. */
export interface MadeKey {
  id: string;
  name: string;
  secret: string;
}

const firstKeyDays = 90;

/** A key for the first requests, such as a server needs: it starts runs and reads, in test data only. */
export const createFirstKey = (at: Workspace, name: string): Promise<MadeKey> =>
  post(resourceUrl(at, "/api_keys"), {
    name,
    scopes: ["read", "run"],
    expires_in_seconds: firstKeyDays * 86_400,
  });

/** The agent of the guide, with its tool: the one that is there from an earlier time, or a new one. */
export async function createFirstAgent(
  at: Workspace,
  written: { name: string; model: string; instructions: string },
): Promise<Agent> {
  const tools = await getAll<{ id: string; name: string; type: string }>(at, "/tools");
  const there = tools.find(({ name, type }) => name === guideTool.name && type === "client");
  const tool = there ?? (await post<{ id: string }>(resourceUrl(at, "/tools"), guideTool));
  return post<Agent>(resourceUrl(at, "/agents"), agentBody(written, tool.id));
}

/** With the same `key` nothing is started twice. With a `secret` it is the request that the reader's server would send. */
export function startRun(
  at: Workspace,
  { agentId, input, key, secret }: { agentId: string; input: string; key: string; secret?: string },
): Promise<Run> {
  const body = { agent_id: agentId, input };
  if (!secret) return post(resourceUrl(at, "/runs"), body, { "Idempotency-Key": key });
  return post("/v1/runs", body, { "Idempotency-Key": key, Authorization: `Bearer ${secret}` });
}

/** The model that needs no provider: it plays a script. */
export const scriptModel = "test/script";

/** A tool that is the reader's own code: the run waits for what it answers. */
export const guideTool = {
  name: "lookup_order",
  type: "client",
  description: "Looks up an order by its number.",
  parameters: {
    type: "object",
    properties: { order_id: { type: "string", description: "Number of the order" } },
    required: ["order_id"],
  },
};

/** What the reader's code would answer. */
export const guideOutput = { status: "shipped", from: "Frankfurt", arrives: "Tuesday" };

export const guideInput = "Where is order 4711?";

const script = [
  { tool_calls: [{ name: guideTool.name, arguments: { order_id: "4711" } }], delta_ms: 20 },
  {
    text: "Order 4711 left Frankfurt this morning and should reach you on Tuesday. I looked it up with your code.",
    delta_ms: 28,
  },
];

/** Body of the `POST /v1/agents` that makes the guide's agent. */
export function agentBody(
  { name, model, instructions }: { name: string; model: string; instructions: string },
  toolId: string,
): Record<string, unknown> {
  return { name, instructions, model, tools: [toolId], ...(model === scriptModel && { model_settings: { script } }) };
}
