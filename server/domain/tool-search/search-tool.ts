import type { AgentSnapshot, SearchTool, ToolSnapshot } from "../agent-snapshot.ts";
import { byteLength } from "../byte-length.ts";
import { limits } from "../limits.ts";

/** Whether models get the definitions of all tools, or load those that they need. `auto` follows their number. */
export const toolLoadings = ["auto", "all", "deferred"] as const;
export type ToolLoading = (typeof toolLoadings)[number];

/** Number of tools above which `auto` defers them. */
export const mostTools = 20;

/** Length of the list of names in the description of the search tool, which each request has. */
const listedMost_bytes = 2000;
const queryMost = 1000;
const usualName = "search_tools";

/** Tools that `tool_search` runs load. Those of the request and of the memory are few, and always loaded. */
export const isDeferrable = ({ type, of_request }: Pick<ToolSnapshot, "type" | "of_request">): boolean =>
  !["memory", "skill", "handoff", "tool_search"].includes(type) && !of_request;

/** Returns the agent's search tool, if its tools are deferred. */
export const searchToolOf = ({ tools }: Pick<AgentSnapshot, "tools">): ToolSnapshot | undefined =>
  tools.find(({ type }) => type === "tool_search");

/**
 * Returns the agent with a search tool, if its tools are to be deferred. Called when a run is created: the run pins the
 * decision with the tool, and runs of older versions have none.
 */
export function withToolSearch(agent: AgentSnapshot, loading: ToolLoading): AgentSnapshot {
  const deferred = agent.tools.filter(isDeferrable);
  const isOn = loading === "deferred" ? deferred.length > 0 : loading === "auto" && deferred.length > mostTools;
  return isOn ? withFreeName({ ...agent, tools: [...agent.tools, searchTool(deferred)] }) : agent;
}

/** Renames the search tool if another tool has its name. */
export function withFreeName(agent: AgentSnapshot): AgentSnapshot {
  const own = searchToolOf(agent);
  if (!own) return agent;
  const taken = new Set(agent.tools.flatMap((tool) => (tool === own ? [] : [tool.name])));
  let name = usualName;
  for (let count = 2; taken.has(name); count++) name = `${usualName}_${count}`;
  return { ...agent, tools: agent.tools.map((tool) => (tool === own ? { ...tool, name } : tool)) };
}

const searchTool = (deferred: readonly ToolSnapshot[]): SearchTool => ({
  id: "tool_search",
  name: usualName,
  description: descriptionOf(deferred),
  parameters: {
    type: "object",
    properties: {
      query: {
        type: "string",
        minLength: 1,
        maxLength: queryMost,
        description: 'What the tool should do, such as "refund a payment", or exact names: "select:name_1,name_2".',
      },
    },
    required: ["query"],
    additionalProperties: false,
  },
  type: "tool_search",
  approval: "never",
  // It reads the run's own tools and changes nothing.
  idempotent: true,
  on_unknown: "retry",
  max_output_bytes: limits.tool_output_bytes,
  http: null,
});

const descriptionOf = (deferred: readonly ToolSnapshot[]): string =>
  [
    `Finds and loads tools. There are ${deferred.length} more tools, whose definitions are loaded only when you need them.`,
    "Search before you say that something cannot be done. Search once for each thing that you need; the tools found are loaded, and you can call them directly from then on.",
    listOf(deferred),
  ].join("\n");

/** Lists the names, or if they are too many their groups. */
function listOf(deferred: readonly ToolSnapshot[]): string {
  const all = `All of them: ${deferred.map(({ name }) => name).join(", ")}.`;
  if (byteLength(all) <= listedMost_bytes) return all;
  const groups = new Map<string, number>();
  for (const tool of deferred) groups.set(groupOf(tool), (groups.get(groupOf(tool)) ?? 0) + 1);
  let list = "";
  for (const [group, count] of groups) {
    const next = `${list === "" ? "" : `${list}, `}${group}_* (${count})`;
    if (byteLength(next) > listedMost_bytes) return `Their names begin with ${list}, and others.`;
    list = next;
  }
  return `Their names begin with ${list}.`;
}

/** Name of the server of a tool, or the first word of its own name. */
function groupOf({ name, ...tool }: ToolSnapshot): string {
  const end = tool.type === "mcp" ? `_${tool.mcp.tool.replaceAll(/[^A-Za-z0-9_-]/g, "_")}` : "";
  if (end !== "" && name.endsWith(end)) return name.slice(0, -end.length);
  return name.split(/[_-]/)[0] || name;
}
