import type { Agent, CreateAgent } from "../../../../server/agents/schema.ts";
import { isExactNumber } from "../../../../server/lib/exact-numbers.ts";

/** What an agent is at a version: all that is not said of every resource, or counted. */
export type Definition = Omit<
  Agent,
  | "id"
  | "object"
  | "version"
  | "tools_count"
  | "created_at"
  | "updated_at"
  | "project_id"
  | "environment"
  | "truncated"
  | "request_id"
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
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
