import type { JsonSchema, ModelSettings } from "./model-call.ts";

export const toolTypes = ["http", "client"] as const;
export type ToolType = (typeof toolTypes)[number];

export const unknownPolicies = ["ask", "retry", "report"] as const;

/** When a call needs a person's word first: never, always, or when its arguments fit the schema. */
export type ApprovalRule = "never" | "always" | { when: JsonSchema };

export interface HttpCall {
  url: string;
  method: string;
  timeout_ms: number;
  retries: number;
  response: "json" | "text";
  /** Header values and the signing secret, encrypted with the master key; opened only where the request is made. */
  sealed: string;
}

/** A tool as a run pinned it. */
export interface ToolSnapshot {
  id: string;
  name: string;
  description: string;
  parameters: JsonSchema;
  type: ToolType;
  approval: ApprovalRule;
  idempotent: boolean;
  on_unknown: (typeof unknownPolicies)[number];
  max_output_bytes: number;
  /** For `type: "http"`, else null. */
  http: HttpCall | null;
}

/** An agent as a run pinned it: edits and deletions after the start cannot change what the run does. */
export interface AgentSnapshot {
  id: string;
  version: number;
  name: string;
  model: string;
  instructions: string;
  settings: ModelSettings;
  tools: ToolSnapshot[];
  max_turns: number;
  output_schema: JsonSchema | null;
}
