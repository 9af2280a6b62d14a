import type { Agent } from "../../entities/agent/agent-api.ts";

/** An agent, as far as the playground changes it. */
export type FullAgent = Pick<
  Agent,
  "id" | "name" | "instructions" | "model" | "model_settings" | "tools" | "max_turns" | "memory" | "version"
>;

export type ToolReference = FullAgent["tools"][number];

/** Body of `POST /v1/runs`. */
export interface RunBody {
  agent_id: string;
  input: string;
  stream: true;
  thread_id?: string;
  overrides?: { instructions?: string; model?: string; tools?: string[]; max_turns?: number };
  budget?: { max_cost_usd?: number };
}
