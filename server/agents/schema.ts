import { type Static, Type } from "@sinclair/typebox";
import { contextStrategies, guardrailActions, guardrailPoints, guardrailTypes } from "../core/agent-snapshot.ts";
import { limits } from "../core/limits.ts";
import { reasoningEfforts } from "../core/model-call.ts";
import { guardrailLimits } from "../guardrails/check.ts";
import { type AgentOverrides, agentFields, Budget, idOf, JsonObject, Metadata } from "../http/schemas.ts";
import { named, oneOf, orNull } from "../wire/schema.ts";

const closed = { additionalProperties: false };

const ScriptEntry = named(
  "ScriptEntry",
  Type.Partial(
    Type.Object({
      text: Type.String({ maxLength: 262_144 }),
      reasoning: Type.String({ maxLength: 262_144 }),
      tool_calls: Type.Array(
        named(
          "ScriptToolCall",
          Type.Object({ name: Type.String({ minLength: 1, maxLength: 64 }), arguments: JsonObject }, closed),
        ),
        { maxItems: limits.tools_per_agent },
      ),
      error: Type.String({ maxLength: 4096 }),
      delay_ms: Type.Integer({ minimum: 0, maximum: 600_000 }),
      delta_ms: Type.Integer({ minimum: 0, maximum: 60_000 }),
    }),
    closed,
  ),
);

const ModelSettings = named(
  "ModelSettings",
  Type.Partial(
    Type.Object({
      temperature: Type.Number({ minimum: 0, maximum: 2 }),
      max_output_tokens: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
      reasoning_effort: oneOf(reasoningEfforts),
      parallel_tool_calls: Type.Boolean(),
      script: Type.Array(ScriptEntry, { maxItems: 1000 }),
    }),
    closed,
  ),
);

const Guardrail = named(
  "GuardrailInput",
  Type.Object(
    {
      type: oneOf(guardrailTypes),
      on: Type.Array(oneOf(guardrailPoints), { minItems: 1, maxItems: guardrailPoints.length, uniqueItems: true }),
      action: oneOf(guardrailActions),
      config: Type.Optional(JsonObject),
    },
    closed,
  ),
);

const MemoryStore = named(
  "MemoryPolicyStoreInput",
  Type.Composite(
    [
      Type.Object({ memory_id: idOf("memory") }),
      Type.Partial(
        Type.Object({
          access: oneOf(["read", "read_write"] as const),
          auto_retrieve: Type.Boolean(),
          top_k: Type.Integer({ minimum: 1, maximum: limits.search_top_k }),
          score_threshold: Type.Number({ minimum: 0, maximum: 1 }),
        }),
      ),
    ],
    closed,
  ),
);

const MemoryInput = named(
  "MemoryPolicyInput",
  Type.Partial(
    Type.Object({
      stores: Type.Array(MemoryStore, { maxItems: 20 }),
      history: named(
        "HistoryPolicyInput",
        Type.Partial(
          Type.Object({
            mode: oneOf(["none", "thread"] as const),
            max_messages: Type.Integer({ minimum: 1, maximum: 200 }),
          }),
          closed,
        ),
      ),
      context: named(
        "ContextPolicyInput",
        Type.Partial(
          Type.Object({
            strategy: oneOf(contextStrategies),
            reserve_output_tokens: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
            tool_output_max_bytes: Type.Integer({ minimum: 1000, maximum: limits.tool_output_bytes }),
          }),
          closed,
        ),
      ),
    }),
    closed,
  ),
);
export type MemoryInput = Static<typeof MemoryInput>;

const { instructions, model, ...optional } = agentFields;
/** What a fork may have different from the agent that its record has pinned. */
export type AgentEdits = Pick<AgentOverrides, "instructions" | "model">;

const name = Type.String({ minLength: 1, maxLength: 128 });
const others = {
  ...optional,
  description: orNull(Type.String({ maxLength: 4096 })),
  model_settings: ModelSettings,
  guardrails: orNull(Type.Array(Guardrail, { maxItems: guardrailLimits.list })),
  budget: orNull(Budget),
  memory: orNull(MemoryInput),
  metadata: Metadata,
};

export const CreateAgent = Type.Composite(
  [Type.Object({ name, instructions, model }), Type.Partial(Type.Object(others))],
  closed,
);
export type CreateAgent = Static<typeof CreateAgent>;

export const UpdateAgent = Type.Partial(
  Type.Object({ name, instructions, model, ...others, expected_version: Type.Integer({ minimum: 1 }) }),
  closed,
);
export type UpdateAgent = Static<typeof UpdateAgent>;
