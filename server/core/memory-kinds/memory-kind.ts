import type { MemoryOperation } from "../agent-snapshot.ts";
import type { JsonSchema } from "../model-call.ts";

/** What memory stores of one kind are. Each module of this folder is one, and `memory-kinds.ts` lists them. */
export interface MemoryKind {
  /** Whether it is searched by meaning, and so has an embedding. */
  isSearched: boolean;
  /** Whoever asks for something of another kind is told this. */
  refusal: string;
  /** By which a model uses it. */
  tools: MemoryTool[];
}

export interface MemoryTool {
  operation: MemoryOperation;
  /** Only for agents that may write. */
  writes: boolean;
  description: string;
  properties: Record<string, JsonSchema>;
  required: string[];
  /** Goes through all stores where none is named. */
  takesAll?: boolean;
}

export const textOf = (maxLength: number, description: string): JsonSchema => ({
  type: "string",
  minLength: 1,
  maxLength,
  description,
});
