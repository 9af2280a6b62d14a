import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import {
  contextStrategies,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
  rerankTypes,
} from "../agent-snapshot.ts";

export const ToolReference = t.named("ToolReference", t.object({ id: t.text, name: t.text, type: t.text }));
export type ToolReference = Static<typeof ToolReference>;

export const Guardrail = t.named(
  "Guardrail",
  t.object({
    type: t.oneOf(guardrailTypes),
    on: t.list(t.oneOf(guardrailPoints)),
    action: t.oneOf(guardrailActions),
    config: t.anyObject,
  }),
);

export const Budget = t.named(
  "Budget",
  t.object({
    max_cost_usd: t.optional(t.number),
    max_total_tokens: t.optional(t.integer),
    max_tool_calls: t.optional(t.integer),
    max_wall_ms: t.optional(t.integer),
  }),
);

export const MemoryPolicy = t.named(
  "MemoryPolicy",
  t.object({
    stores: t.list(
      t.object({
        memory_id: t.text,
        access: t.oneOf(["read", "read_write"]),
        auto_retrieve: t.boolean,
        top_k: t.integer,
        score_threshold: t.number,
        rerank: t.optional(
          t.named("Rerank", t.object({ model: t.text, type: t.optional(t.oneOf(rerankTypes)), candidates: t.integer })),
        ),
        diversity: t.optional(t.number),
        neighbors: t.optional(t.integer),
        learn: t.optional(t.boolean),
      }),
    ),
    history: t.named("HistoryPolicy", t.object({ mode: t.oneOf(["none", "thread"]), max_messages: t.integer })),
    context: t.named(
      "ContextPolicy",
      t.object({
        strategy: t.oneOf(contextStrategies),
        reserve_output_tokens: t.integer,
        tool_output_max_bytes: t.integer,
      }),
    ),
  }),
);

export const Doors = t.named("Doors", t.object({ mcp: t.boolean, a2a: t.boolean }));
