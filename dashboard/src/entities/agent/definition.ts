import type { CreateAgent } from "../../../../server/agents/schema.ts";
import type { Agent } from "../../../../server/wire/agent.ts";
/** What an agent is at a version. */
export type Definition = Pick<
  Agent,
  | "name"
  | "description"
  | "instructions"
  | "model"
  | "model_settings"
  | "tools"
  | "max_turns"
  | "output_schema"
  | "guardrails"
  | "budget"
  | "memory"
  | "input_schema"
  | "doors"
  | "metadata"
>;

/** A memory store as a policy names it. What is left out has its default. */
export type PolicyStore = NonNullable<MemoryPolicy["stores"]>[number];

export type MemoryPolicy = NonNullable<CreateAgent["memory"]>;

/** Whether two JSON values are the same, whatever the order of their keys. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
