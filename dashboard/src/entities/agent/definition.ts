export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "max"] as const;
export const contextStrategies = ["compact", "truncate", "fail"] as const;

/** What an agent is at a version. */
export interface Definition {
  name: string;
  description: string | null;
  instructions: string;
  model: string;
  model_settings: ModelSettings;
  tools: { id: string; name: string; type: string }[];
  max_turns: number;
  output_schema: object | null;
  guardrails: object[];
  budget: Budget | null;
  memory: MemoryPolicy | null;
  metadata: Record<string, string>;
}

export interface ModelSettings {
  temperature?: number;
  max_output_tokens?: number;
  reasoning_effort?: (typeof reasoningEfforts)[number];
  parallel_tool_calls?: boolean;
  script?: object[];
}

interface Budget {
  max_cost_usd?: number;
  max_total_tokens?: number;
  max_tool_calls?: number;
  max_wall_ms?: number;
}

/** A memory store as a policy names it. What is left out has its default. */
export interface PolicyStore {
  memory_id: string;
  access?: "read" | "read_write";
  auto_retrieve?: boolean;
  top_k?: number;
  score_threshold?: number;
}

export interface MemoryPolicy {
  stores?: PolicyStore[];
  history?: { mode?: "none" | "thread"; max_messages?: number };
  context?: {
    strategy?: (typeof contextStrategies)[number];
    reserve_output_tokens?: number;
    tool_output_max_bytes?: number;
  };
}

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
