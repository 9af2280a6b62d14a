import type { PinnedStore, ToolSnapshot, ToolStore } from "../../domain/agent-snapshot.ts";
import { limits } from "../../domain/limits.ts";
import type { MemoryTool } from "../../domain/memory-kinds/memory-kind.ts";
import { memoryKinds } from "../../domain/memory-kinds/memory-kinds.ts";
import type { JsonSchema } from "../../domain/model-call.ts";
import { freeToolName } from "./free-tool-name.ts";

/** Builds the tools by which a model uses these stores; `taken` are the names of the agent's own tools. */
export const memoryTools = (
  stores: readonly PinnedStore[],
  usedNames: ReadonlySet<string> = new Set(),
): ToolSnapshot[] =>
  Object.entries(memoryKinds).flatMap(([name, { tools }]) => {
    const ofKind = stores.filter(({ kind }) => kind === name);
    return tools.flatMap((tool) => toolFor(tool, tool.writes ? ofKind.filter(mayWrite) : ofKind, usedNames));
  });

const mayWrite = ({ access }: PinnedStore): boolean => access === "read_write";

function toolFor(memoryTool: MemoryTool, stores: readonly PinnedStore[], taken: ReadonlySet<string>): ToolSnapshot[] {
  const { operation, description } = memoryTool;
  if (stores.length === 0) return [];
  const storeReferences = stores.map((store) => reach(store, stores));
  const tool: ToolSnapshot = {
    id: operation,
    name: freeToolName(operation, taken),
    description,
    parameters: parametersOf(
      memoryTool,
      storeReferences.map(({ name }) => name),
    ),
    type: "memory",
    approval: "never",
    // A call id writes a text only once, and writing a key twice gives the same value.
    idempotent: true,
    on_unknown: "retry",
    max_output_bytes: limits.tool_output_bytes,
    http: null,
    memory: { operation, stores: storeReferences },
  };
  return [tool];
}

/** Describes one store. Its id is added if several stores have the same name. */
function reach(
  { memory_id, name, top_k, score_threshold, rerank, diversity, neighbors }: PinnedStore,
  all: readonly PinnedStore[],
): ToolStore {
  const isOnly = all.filter((other) => other.name === name).length === 1;
  const choices = { ...(rerank && { rerank }), ...(diversity && { diversity }), ...(neighbors && { neighbors }) };
  return { memory_id, name: isOnly ? name : memory_id, top_k, score_threshold, ...choices };
}

/** Adds a store parameter only if there are several stores; a search may cover all of them. */
function parametersOf({ properties, required, takesAll }: MemoryTool, names: readonly string[]): JsonSchema {
  const store = { type: "string", enum: names, description: "Which store." };
  const hasStoreParameter = names.length > 1;
  return {
    type: "object",
    properties: { ...properties, ...(hasStoreParameter && { store }) },
    required: [...required, ...(hasStoreParameter && !takesAll ? ["store"] : [])],
    additionalProperties: false,
  };
}
