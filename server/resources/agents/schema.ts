import { type Static, type TSchema, Type } from "@sinclair/typebox";
import {
  type AgentSnapshot,
  type Guardrail,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
  type MemoryPolicy,
} from "../../domain/agent-snapshot.ts";
import * as wire from "../../domain/api-types/agent.ts";
import { resource } from "../../domain/api-types/schema.ts";
import type { Budget as CoreBudget } from "../../domain/budget-schema.ts";
import { limits } from "../../domain/limits.ts";
import type { ModelSettings as CoreModelSettings, JsonSchema } from "../../domain/model-call.ts";
import { noProtocols, type Protocols } from "../../domain/protocols.ts";
import { type AgentOverrides, agentFields, Budget, JsonObject, Metadata, settingFields } from "../../http/schemas.ts";
import * as t from "../../lib/schema.ts";
import { guardrailLimits } from "../../runtime/guardrails/limits.ts";
import { completePolicy, defaultPolicy, type FactsOf, MemoryInput, pinnedPolicy } from "./memory-policy.ts";

const ScriptEntry = t.named(
  "ScriptEntry",
  t.partial({
    text: Type.String({ maxLength: 262_144 }),
    reasoning: Type.String({ maxLength: 262_144 }),
    tool_calls: Type.Array(
      t.named(
        "ScriptToolCall",
        t.closedObject({ name: Type.String({ minLength: 1, maxLength: 64 }), arguments: JsonObject }),
      ),
      { maxItems: limits.tools_per_agent },
    ),
    error: Type.String({ maxLength: 4096 }),
    delay_ms: Type.Integer({ minimum: 0, maximum: 600_000 }),
    delta_ms: Type.Integer({ minimum: 0, maximum: 60_000 }),
  }),
);

const ModelSettings = t.named(
  "ModelSettings",
  t.partial({
    ...settingFields,
    script: Type.Array(ScriptEntry, { maxItems: 1000 }),
  }),
);

const GuardrailInput = t.named(
  "GuardrailInput",
  t.closedObject({
    type: t.oneOf(guardrailTypes),
    on: Type.Array(t.oneOf(guardrailPoints), { minItems: 1, maxItems: guardrailPoints.length, uniqueItems: true }),
    action: t.oneOf(guardrailActions),
    config: Type.Optional(JsonObject),
  }),
);

const DoorsInput = t.named("DoorsInput", t.partial({ mcp: Type.Boolean(), a2a: Type.Boolean() }));

/** Pinned fields that a fork may override. */
export type AgentEdits = Pick<AgentOverrides, "instructions" | "model">;

interface DefinitionField<Given extends TSchema, Told extends TSchema, Kept> {
  given: Given;
  told: Told;
  /** Description of the field; default: the one in `api-types/descriptions.ts`. */
  about?: string;
  /** Value for an agent that is created without the field. */
  initial: Kept;
  /** Value for an agent that was stored before the field existed; default: `initial`. */
  stored?: Kept;
  /** Converts the given value to the stored one; default: unchanged. */
  keep?(given: Static<Given>, factsOf: FactsOf): Kept;
  /** Fields that a run pins. */
  pin?(kept: Kept, factsOf: FactsOf): Partial<AgentSnapshot>;
}
const field = <Given extends TSchema, Told extends TSchema, Kept>(each: DefinitionField<Given, Told, Kept>) => each;

/** Fields of an agent beside name, model, tools and metadata, in the order of responses. */
export const definitionFields = {
  description: field({
    given: t.orNull(Type.String({ maxLength: 4096 })),
    told: t.orNull(t.text),
    about: "What the agent is for; null: no description.",
    initial: null as string | null,
  }),
  instructions: field({
    given: agentFields.instructions,
    told: t.text,
    initial: "",
    pin: (instructions) => ({ instructions }),
  }),
  model_settings: field({
    given: ModelSettings,
    told: t.withType<CoreModelSettings>(t.anyObject),
    about: "Settings of the model; the provider's defaults apply to what is left out.",
    initial: {} as CoreModelSettings,
    pin: (settings) => ({ settings }),
  }),
  output_schema: field({
    given: agentFields.output_schema,
    told: t.orNull(t.anyObject),
    initial: null as JsonSchema | null,
    pin: (output_schema) => ({ output_schema }),
  }),
  max_turns: field({
    given: agentFields.max_turns,
    told: t.integer,
    initial: 25,
    pin: (max_turns) => ({ max_turns }),
  }),
  guardrails: field({
    given: t.orNull(Type.Array(GuardrailInput, { maxItems: guardrailLimits.list })),
    told: t.list(wire.Guardrail),
    initial: [] as Guardrail[],
    keep: (list) => (list ?? []).map(({ type, on, action, config = {} }) => ({ type, on, action, config })),
    pin: (guardrails) => (guardrails.length > 0 ? { guardrails } : {}),
  }),
  budget: field({
    given: t.orNull(Budget),
    told: t.orNull(wire.Budget),
    initial: null as CoreBudget | null,
    pin: (budget) => (budget ? { budget } : {}),
  }),
  memory: field({
    given: t.orNull(MemoryInput),
    told: t.orNull(wire.MemoryPolicy),
    initial: defaultPolicy as MemoryPolicy | null,
    stored: null,
    keep: completePolicy,
    pin: (memory, factsOf) => (memory ? { memory: pinnedPolicy(memory, factsOf) } : {}),
  }),
  input_schema: field({
    given: agentFields.output_schema,
    told: t.orNull(t.anyObject),
    initial: null as JsonSchema | null,
  }),
  doors: field({
    given: DoorsInput,
    told: wire.Doors,
    initial: noProtocols,
    keep: (doors): Protocols => ({ ...noProtocols, ...doors }),
  }),
};

type Fields = typeof definitionFields;
export type DefinitionFieldName = keyof Fields;

/** Stored fields of an agent beside name and model. */
export type Definition = { [Name in DefinitionFieldName]: Fields[Name]["initial"] };

const schemas = <Side extends "given" | "told">(side: Side) => {
  const entries: [string, Record<Side, TSchema> & { about?: string }][] = Object.entries(definitionFields);
  return Object.fromEntries(entries.map(([name, it]) => [name, t.about(it.about, it[side])])) as unknown as {
    [Name in DefinitionFieldName]: Fields[Name][Side];
  };
};
const { instructions, max_turns, output_schema, ...optional } = schemas("given");
const { model, tools } = agentFields;
const name = Type.String({ minLength: 1, maxLength: limits.name_length });
const others = { tools, max_turns, output_schema, ...optional, metadata: Metadata };

export const CreateAgent = t.partly({ name, instructions, model }, others);
export type CreateAgent = Static<typeof CreateAgent>;

export const UpdateAgent = t.partial({
  name,
  instructions,
  model,
  ...others,
  expected_version: Type.Integer({ minimum: 1 }),
});
export type UpdateAgent = Static<typeof UpdateAgent>;

// In the order of the response.
const { description, instructions: system, model_settings, ...rest } = schemas("told");
const agent = {
  name: t.text,
  description,
  instructions: system,
  model: t.text,
  model_settings,
  tools_count: t.integer,
  ...rest,
  version: t.integer,
};

export const Agent = resource("Agent", "agent", { ...agent, tools: t.list(wire.ToolReference), updated_at: t.time });
export type Agent = Static<typeof Agent>;

export const AgentListItem = resource("AgentListItem", "agent", { ...agent, tools: t.integer, updated_at: t.time });
export type AgentListItem = Static<typeof AgentListItem>;

export const AgentVersion = resource("AgentVersion", "agent_version", { ...agent, tools: t.list(wire.ToolReference) });
export type AgentVersion = Static<typeof AgentVersion>;
