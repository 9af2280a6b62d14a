import type { PinnedStore, ToolSnapshot, ToolStore } from "../core/agent-snapshot.ts";
import { limits } from "../core/limits.ts";
import type { MemoryTool } from "../core/memory-kinds/memory-kind.ts";
import { memoryKinds } from "../core/memory-kinds/memory-kinds.ts";
import type { JsonSchema } from "../core/model-call.ts";

/** The tools by which a model uses these stores; `taken` are names that the agent's own tools have already. */
export const memoryTools = (stores: readonly PinnedStore[], taken: ReadonlySet<string> = new Set()): ToolSnapshot[] =>
  Object.entries(memoryKinds).flatMap(([name, { tools }]) => {
    const ofKind = stores.filter(({ kind }) => kind === name);
    return tools.flatMap((tool) => toolFor(tool, tool.writes ? ofKind.filter(mayWrite) : ofKind, taken));
  });

const mayWrite = ({ access }: PinnedStore): boolean => access === "read_write";

function toolFor(memoryTool: MemoryTool, stores: readonly PinnedStore[], taken: ReadonlySet<string>): ToolSnapshot[] {
  const { operation, description } = memoryTool;
  if (stores.length === 0) return [];
  const reached = stores.map((store) => reach(store, stores));
  const tool: ToolSnapshot = {
    id: operation,
    name: freeName(operation, taken),
    description,
    parameters: parametersOf(
      memoryTool,
      reached.map(({ name }) => name),
    ),
    type: "memory",
    approval: "never",
    // A text is written once a call, and a key has the same value after the second time.
    idempotent: true,
    on_unknown: "retry",
    max_output_bytes: limits.tool_output_bytes,
    http: null,
    memory: { operation, stores: reached },
  };
  return [tool];
}

/** Stores may have the same name, which then tells nothing. */
function reach(
  { memory_id, name, top_k, score_threshold, rerank, diversity, neighbors }: PinnedStore,
  all: readonly PinnedStore[],
): ToolStore {
  const isOnly = all.filter((other) => other.name === name).length === 1;
  const choices = { ...(rerank && { rerank }), ...(diversity && { diversity }), ...(neighbors && { neighbors }) };
  return { memory_id, name: isOnly ? name : memory_id, top_k, score_threshold, ...choices };
}

/** A name that no tool has which was there before; only a tool that was renamed, or one of an MCP server, gets in the way. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
  return name;
}

/** Which store is asked for only where there are several; a search may go through all of them. */
function parametersOf({ properties, required, takesAll }: MemoryTool, names: readonly string[]): JsonSchema {
  const store = { type: "string", enum: names, description: "Which store." };
  const isAsked = names.length > 1;
  return {
    type: "object",
    properties: { ...properties, ...(isAsked && { store }) },
    required: [...required, ...(isAsked && !takesAll ? ["store"] : [])],
    additionalProperties: false,
  };
}
