import type { Agent } from "../../../../server/resources/agents/schema.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { get } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import type { WorkspaceAddress } from "../../lib/workspace-address.ts";
import { agentApi } from "../agent/agent-api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";
import { toolApi } from "../tool/tool-api.ts";
import { type Bundle, bundleOf, type Plan, type Step, type Target } from "./bundle.ts";

type Named = { id: string; name: string };

/** Bundle of an agent with all of its tools. Lists omit fields of a tool, so each tool is fetched. */
export async function readAgentBundle(at: WorkspaceKey, agent: Agent): Promise<Bundle> {
  return bundleOf(agent, await Promise.all(agent.tools.map(({ id }) => get<Tool>(toolApi.url(at, id)))));
}

/** Fetches the target's objects that a bundle mentions. */
export async function readTarget(place: WorkspaceAddress, bundle: Bundle, signal: AbortSignal): Promise<Target> {
  const [agents, tools, secrets] = await Promise.all([
    getAll<Named>(place, "/agents", {}, signal),
    getAll<Named>(place, "/tools", {}, signal),
    getAll<Named>(place, "/secrets", {}, signal),
  ]);
  const names = new Set(bundle.tools.map(({ name }) => name));
  const same = agents.find(({ name }) => name === bundle.agent?.name);
  return {
    agents,
    agent: same ? await get<Agent>(agentApi.url(place, same.id), signal) : null,
    tools: await Promise.all(
      tools.filter(({ name }) => names.has(name)).map(({ id }) => get<Tool>(toolApi.url(place, id), signal)),
    ),
    secrets: secrets.map(({ name }) => name),
  };
}

/** Creates new objects at the target, updates differing ones if requested, and returns the result's path. */
export async function copyBundle(
  place: WorkspaceAddress,
  plan: Plan,
  target: Target,
  changesTools: boolean,
): Promise<string> {
  const ids = new Map<string, string>();
  for (const step of plan.tools) {
    const id = await carryTool(place, step, changesTools);
    if (id) ids.set(step.part.name, id);
  }
  if (!plan.agent) return `/tools/${[...ids.values()][0] ?? ""}`;
  const { part, state, id } = plan.agent;
  const tools = ((part.tools as string[]) ?? []).map((name) => ids.get(name)).filter((each) => each !== undefined);
  if (state === "new") return `/agents/${(await agentApi.create(place, { ...part, tools })).id}`;
  const existingMemory = target.agent?.memory;
  const memoryPolicy =
    existingMemory &&
    existingMemory.stores.length > 0 &&
    (part.memory ? { ...part.memory, stores: existingMemory.stores } : existingMemory);
  const memory = memoryPolicy ? { memory: memoryPolicy } : {};
  if (state === "differs") await agentApi.change(place, id!, { ...part, tools, ...memory });
  return `/agents/${id}`;
}

async function carryTool(place: WorkspaceAddress, { part, state, id }: Step, changes: boolean): Promise<string | null> {
  if (state === "left") return null;
  if (state === "new") return (await toolApi.create(place, part)).id;
  const { type: _, headers: __, ...change } = part; // Existing headers may hold values that cannot be read: keep them.
  if (state === "differs" && changes) await toolApi.change(place, id!, change);
  return id;
}
