import type { MemoryOperation } from "../agent-snapshot.ts";
import type { JsonSchema } from "../model-call.ts";

/** A kind of memory stores. Each module of this folder is one; `memory-kinds.ts` lists them. */
export interface MemoryKind {
  /** True if it is searched by meaning, and so has an embedding. */
  isSearched: boolean;
  /** Message for operations of another kind. */
  refusal: string;
  /** Tools for models. */
  tools: MemoryTool[];
}

export interface MemoryTool {
  operation: MemoryOperation;
  /** Only for agents with write access. */
  writes: boolean;
  description: string;
  properties: Record<string, JsonSchema>;
  required: string[];
  /** True if it covers all stores when none is named. */
  takesAll?: boolean;
}

export const textOf = (maxLength: number, description: string): JsonSchema => ({
  type: "string",
  minLength: 1,
  maxLength,
  description,
});
