import type { AgentListItem as Agent } from "../../../../server/wire/agent.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import type { Workspace } from "../../lib/workspace.ts";
import { agentBody, guideTool } from "./guide-bodies.ts";

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
    ...{ name, scopes: ["read", "run"], expires_in_seconds: firstKeyDays * 86_400 },
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

/** With the same `key` nothing is started twice. */
export const startRun = (at: Workspace, agent_id: string, input: string, key: string): Promise<Run> =>
  post(resourceUrl(at, "/runs"), { agent_id, input }, { "Idempotency-Key": key });
