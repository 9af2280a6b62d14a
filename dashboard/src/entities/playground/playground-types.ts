/** An agent, as far as the playground changes it. */
export interface FullAgent {
  id: string;
  name: string;
  instructions: string;
  model: string;
  model_settings: ModelSettings;
  tools: ToolReference[];
  max_turns: number;
  memory: Memory | null;
  version: number;
}

export interface ModelSettings {
  temperature?: number;
  max_output_tokens?: number;
  reasoning_effort?: string;
  parallel_tool_calls?: boolean;
  script?: unknown[];
}

interface Memory extends Record<string, unknown> {
  history?: { mode?: "none" | "thread"; max_messages?: number };
}

/** What an agent says of a tool. */
export interface ToolReference {
  id: string;
  name: string;
  type: string;
}

/** A tool, as far as the playground shows it. */
export interface Tool extends ToolReference {
  description: string;
  parameters: Record<string, unknown> | null;
  approval: unknown;
  enabled: boolean;
}

export interface Model {
  id: string;
  provider: string;
  available: boolean;
}

/** Body of `POST /v1/runs`. */
export interface RunBody {
  agent_id: string;
  input: string;
  stream: true;
  thread_id?: string;
  overrides?: { instructions?: string; model?: string; tools?: string[]; max_turns?: number };
  budget?: { max_cost_usd?: number };
}
