import { isExactNumber } from "../../../../server/lib/exact-numbers.ts";
import type { Agent, CreateAgent } from "../../../../server/resources/agents/schema.ts";

/** Versioned configuration of an agent: all fields but metadata and counters. */
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

/** A memory store in a policy. Omitted fields have their defaults. */
export type PolicyStore = NonNullable<MemoryPolicy["stores"]>[number];

export type MemoryPolicy = NonNullable<CreateAgent["memory"]>;

/** True if two JSON values are equal, regardless of key order. */
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
