import type { Static } from "@sinclair/typebox";
import { contextStrategies, guardrailActions, guardrailPoints, guardrailTypes } from "../core/agent-snapshot.ts";
import type { ModelSettings } from "../core/model-call.ts";
import {
  anyObject,
  boolean,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  optional,
  orNull,
  resource,
  text,
  time,
  typed,
} from "./schema.ts";

export const ToolReference = named("ToolReference", object({ id: text, name: text, type: text }));
export type ToolReference = Static<typeof ToolReference>;

const Guardrail = named(
  "Guardrail",
  object({
    type: oneOf(guardrailTypes),
    on: list(oneOf(guardrailPoints)),
    action: oneOf(guardrailActions),
    config: anyObject,
  }),
);

export const Budget = object({
  max_cost_usd: optional(number),
  max_total_tokens: optional(integer),
  max_tool_calls: optional(integer),
  max_wall_ms: optional(integer),
});

const MemoryPolicy = named(
  "MemoryPolicy",
  object({
    stores: list(
      object({
        memory_id: text,
        access: oneOf(["read", "read_write"]),
        auto_retrieve: boolean,
        top_k: integer,
        score_threshold: number,
      }),
    ),
    history: object({ mode: oneOf(["none", "thread"]), max_messages: integer }),
    context: object({
      strategy: oneOf(contextStrategies),
      reserve_output_tokens: integer,
      tool_output_max_bytes: integer,
    }),
  }),
);

const agent = {
  name: text,
  description: orNull(text),
  instructions: text,
  model: text,
  model_settings: typed<ModelSettings>(anyObject),
  tools_count: integer,
  output_schema: orNull(anyObject),
  max_turns: integer,
  guardrails: list(Guardrail),
  budget: orNull(Budget),
  memory: orNull(MemoryPolicy),
  version: integer,
};

export const Agent = resource("Agent", "agent", { ...agent, tools: list(ToolReference), updated_at: time });
export type Agent = Static<typeof Agent>;

export const AgentListItem = resource("AgentListItem", "agent", { ...agent, tools: integer, updated_at: time });
export type AgentListItem = Static<typeof AgentListItem>;

export const AgentVersion = resource("AgentVersion", "agent_version", { ...agent, tools: list(ToolReference) });
export type AgentVersion = Static<typeof AgentVersion>;
