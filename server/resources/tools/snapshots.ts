import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { limits } from "../../domain/limits.ts";
import type { McpTool } from "../../runtime/mcp/read-tools.ts";
import type { SystemPython } from "../../runtime/sandbox/system-python.ts";
import { parametersOf } from "./definition.ts";
import { definitionOf, type Row } from "./row.ts";
import { offered } from "./types/mcp.ts";
import {
  type Definition,
  type Listing,
  type McpDefinition,
  type PinnedBase,
  requireSettings,
} from "./types/tool-kind.ts";
import { toolKinds } from "./types/tool-kinds.ts";

/** Tools that a run pins, and those that are unavailable. */
export interface PinnedTools {
  tools: ToolSnapshot[];
  unavailable: { tool: string; message: string }[];
}

/** Pins these tools in order, without disabled ones. `python`: the operator's interpreter. */
export function pinTools(rows: readonly Row[], python: SystemPython | null): PinnedTools {
  const on = rows.map((row) => ({ row, definition: definitionOf(row) })).filter(({ definition }) => definition.enabled);
  // A tool keeps its own name, because scripts and prompts rely on it; tools of servers are renamed.
  const names = new Set(on.flatMap(({ row }) => (row.type === "mcp" ? [] : [row.name])));
  const all: PinnedTools = { tools: [], unavailable: [] };
  for (const { row, definition } of on) {
    if (definition.mcp) pinServer(row, definition, definition.mcp, names, all);
    else all.tools.push(snapshotOf(row, definition, python));
  }
  return all;
}

function pinServer(
  row: Row,
  definition: Definition,
  server: McpDefinition,
  names: Set<string>,
  all: PinnedTools,
): void {
  // Servers may list their tools in another order each time, which would lose the provider's cache of the prompt.
  const tools = offered(server).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const message = unavailableReason(server.listing, all.tools.length + tools.length);
  if (message !== null) all.unavailable.push({ tool: row.name, message });
  else
    for (const tool of tools) {
      const name = freeName(`${row.name}_${tool.name}`, names);
      names.add(name);
      all.tools.push(mcpSnapshot(row, definition, tool, name));
    }
}

function unavailableReason({ listed_at_ms, last_error }: Listing, count: number): string | null {
  if (listed_at_ms === null)
    return `The tools of its MCP server have never been listed. ${last_error?.message ?? ""}`.trim();
  if (count > limits.tools_per_agent)
    return `With the tools of its MCP server the agent would have ${count}, more than ${limits.tools_per_agent}. Limit them with allowed_tools.`;
  return null;
}

/** Snapshot of a tool that is no MCP server. */
export function snapshotOf(row: Row, definition: Definition, python: SystemPython | null): ToolSnapshot {
  const { snapshot, modelReads } = toolKinds[row.type];
  const parameters = parametersOf(row.type, definition);
  if (!snapshot || !parameters) throw new Error("The tools of an MCP server are pinned one by one.");
  const description = modelReads?.(definition, python) ?? definition.description;
  return snapshot(baseOf(row, definition, { name: row.name, description, parameters }), definition, row.sealed);
}

/** Snapshot of one tool of a server, with the server's settings. */
export function mcpSnapshot(row: Row, definition: Definition, tool: McpTool, name: string): ToolSnapshot {
  const { server_url, timeout_ms, oauth_client_id } = requireSettings(definition.mcp);
  const { description, parameters, idempotent, as_task, operation } = tool;
  return {
    ...baseOf(row, definition, { name, description, parameters }),
    type: "mcp",
    idempotent,
    http: null,
    mcp: {
      server_url,
      tool: tool.name,
      ...(as_task && { as_task }),
      ...(operation && { operation }),
      timeout_ms,
      sealed: row.sealed,
      ...(oauth_client_id !== undefined && { oauth_client_id }),
    },
  };
}

const baseOf = (
  { id, type }: Row,
  { approval, on_unknown, max_output_bytes }: Definition,
  fields: Pick<ToolSnapshot, "name" | "description" | "parameters">,
): PinnedBase => ({ id, type, approval, on_unknown, max_output_bytes, ...fields });

const nameLength_max = 64;

/** Returns a free name similar to `wanted` that models accept; deterministic. */
export function freeName(baseName: string, usedNames: ReadonlySet<string>): string {
  const clean = baseName.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  for (let count = 1; ; count++) {
    const end = count === 1 ? "" : `_${count}`;
    const name = clean.slice(0, nameLength_max - end.length) + end;
    if (!usedNames.has(name)) return name;
  }
}
