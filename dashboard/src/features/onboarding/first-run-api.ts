import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { AgentListItem as Agent } from "../../../../server/resources/agents/schema.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** A created key with its secret. */
export interface CreatedKey {
  id: string;
  name: string;
  secret: string;
}

const firstKeyDays = 90;

/** Creates a key for the first requests. It can start runs and read. */
export const createFirstKey = (at: Workspace, name: string): Promise<CreatedKey> =>
  post(resourceUrl(at, "/api_keys"), {
    name,
    scopes: ["read", "run"],
    expires_in_seconds: firstKeyDays * 86_400,
  });

/** Creates the guide's agent. Reuses the guide's tool if it exists already. */
export async function createFirstAgent(
  at: Workspace,
  draft: { name: string; model: string; instructions: string },
): Promise<Agent> {
  const tools = await getAll<{ id: string; name: string; type: string }>(at, "/tools");
  const existingTool = tools.find(({ name, type }) => name === guideTool.name && type === "client");
  const tool = existingTool ?? (await post<{ id: string }>(resourceUrl(at, "/tools"), guideTool));
  return post<Agent>(resourceUrl(at, "/agents"), agentBody(draft, tool.id));
}

/**
 * Starts a run. `key` is its Idempotency-Key. With a `secret`, sends the same request as the person's own server would,
 * else uses the session.
 */
export function startRun(
  at: Workspace,
  { agentId, input, key, secret }: { agentId: string; input: string; key: string; secret?: string },
): Promise<Run> {
  const body = { agent_id: agentId, input };
  if (!secret) return post(resourceUrl(at, "/runs"), body, { "Idempotency-Key": key });
  return post("/v1/runs", body, { "Idempotency-Key": key, Authorization: `Bearer ${secret}` });
}

/** The built-in model that plays a script. It needs no provider. */
export const scriptModel = "test/script";

/** A client tool, which stands for the person's own code: the run waits for its output. */
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

/** The output that the person's code would return. */
export const guideOutput = { status: "shipped", from: "Frankfurt", arrives: "Tuesday" };

export const guideInput = "Where is order 4711?";

const script = [
  { tool_calls: [{ name: guideTool.name, arguments: { order_id: "4711" } }], delta_ms: 20 },
  {
    text: "Order 4711 left Frankfurt this morning and should reach you on Tuesday. I looked it up with your code.",
    delta_ms: 28,
  },
];

/** Returns the body of the `POST /v1/agents` that creates the guide's agent. */
export function agentBody(
  { name, model, instructions }: { name: string; model: string; instructions: string },
  toolId: string,
): Record<string, unknown> {
  return { name, instructions, model, tools: [toolId], ...(model === scriptModel && { model_settings: { script } }) };
}
