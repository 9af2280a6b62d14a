import { type Static, type TSchema, Type } from "@sinclair/typebox";
import {
  type AgentHandoff,
  type AgentSnapshot,
  type Guardrail,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
  type MemoryPolicy,
} from "../../domain/agent-snapshot.ts";
import * as wire from "../../domain/api-types/agent.ts";
import { ModelName, objectOf, UpdatedAt } from "../../domain/api-types/fields.ts";
import { envelope, resource } from "../../domain/api-types/schema.ts";
import type { Budget as CoreBudget } from "../../domain/budget-schema.ts";
import { type FailoverReason, failoverReasons } from "../../domain/failover.ts";
import { limits } from "../../domain/limits.ts";
import {
  type ModelSettings as CoreModelSettings,
  type JsonSchema,
  type PromptCaching,
  promptCachings,
} from "../../domain/model-call.ts";
import { noProtocols, type Protocols } from "../../domain/protocols.ts";
import { defaultUses, type ProviderTool, providerToolTypes } from "../../domain/provider-tools.ts";
import { snippetName, variableName } from "../../domain/template.ts";
import { type ToolLoading, toolLoadings } from "../../domain/tool-search/search-tool.ts";
import { type Variable as CoreVariable, type VariableValue, variableTypes } from "../../domain/variable.ts";
import {
  type AgentOverrides,
  Budget,
  GivenArguments,
  JsonObject,
  Metadata,
  overridableFields,
  settingFields,
} from "../../http/schemas.ts";
import { nameFilter, setResult } from "../../http/set-by-name.ts";
import * as t from "../../lib/schema.ts";
import { guardrailLimits } from "../../runtime/guardrails/limits.ts";
import { type SkillReference, SkillReferences, SkillsInput } from "./agent-skills.ts";
import { completeHandoff, HandoffInput } from "./handoff-fields.ts";
import { completePolicy, defaultPolicy, type FactsOf, MemoryInput, pinnedPolicy } from "./memory-policy.ts";

const ScriptEntry = t.named(
  "ScriptEntry",
  t.partial({
    text: t.about("What the model answers in this call.", Type.String({ maxLength: 262_144 })),
    reasoning: t.about("What the scripted model thinks before its answer.", Type.String({ maxLength: 262_144 })),
    tool_calls: t.about(
      "The tools that the model asks for in this call.",
      Type.Array(
        t.named(
          "ScriptToolCall",
          t.closedObject({
            name: t.about("The name by which the model calls the tool.", Type.String({ minLength: 1, maxLength: 64 })),
            arguments: t.about(GivenArguments, JsonObject),
          }),
        ),
        { maxItems: limits.tools_per_agent },
      ),
    ),
    error: t.about("The message with which the call fails, as a provider's error.", Type.String({ maxLength: 4096 })),
    delay_ms: t.about(
      "How long the model waits before it answers, in milliseconds.",
      Type.Integer({ minimum: 0, maximum: 600_000 }),
    ),
    delta_ms: t.about(
      "The time between two pieces of the text, in milliseconds.",
      Type.Integer({ minimum: 0, maximum: 60_000 }),
    ),
  }),
);

const ModelSettings = t.named(
  "ModelSettings",
  t.partial({
    ...settingFields,
    provider_options: t.about(
      "Options that this provider has and no other setting covers: of its SDK for openai, anthropic and google (`serviceTier`), fields of the request's body for the others.",
      JsonObject,
    ),
    headers: t.about(
      "Further headers of each request to the model. Write a secret as `{{secret.NAME}}`.",
      Type.Record(Type.String({ minLength: 1, maxLength: 256 }), Type.String({ maxLength: 4096 }), {
        maxProperties: 32,
      }),
    ),
    extra_body: t.about("Further fields of each request's body, as the provider's API has them.", JsonObject),
    script: t.about(
      "The answers of `test/script`, one for each model call.",
      Type.Array(ScriptEntry, { maxItems: 1000 }),
    ),
  }),
);

const GuardrailInput = t.named(
  "GuardrailInput",
  t.closedObject({
    type: t.about("What the rule looks for.", t.oneOf(guardrailTypes)),
    on: t.about(
      "Where the rule is applied.",
      Type.Array(t.oneOf(guardrailPoints), { minItems: 1, maxItems: guardrailPoints.length, uniqueItems: true }),
    ),
    action: t.about("What happens when the rule finds something.", t.oneOf(guardrailActions)),
    config: t.about("The rule's settings, by its type.", Type.Optional(JsonObject)),
  }),
);

const Domains = Type.Array(
  Type.String({ pattern: "^[a-zA-Z0-9.-]+(/[^\\s]*)?$", examples: ["example.com"], maxLength: 255 }),
  {
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
  },
);
const ProviderToolInput = t.named(
  "ProviderToolInput",
  t.partly(
    { type: t.about("What the provider does: it searches the web, or runs code.", t.oneOf(providerToolTypes)) },
    {
      max_uses: t.about("How often one model call may use it.", Type.Integer({ minimum: 1, maximum: 20 })),
      allowed_domains: t.about("The only domains that a search shows.", Domains),
      blocked_domains: t.about("Domains that a search does not show.", Domains),
    },
  ),
);

const VariableInput = t.named(
  "VariableInput",
  t.partly(
    {
      name: t.about(
        "The name that stands in the text as `{{name}}`, and by which a run gives the value.",
        Type.String({ pattern: variableName }),
      ),
      type: t.about("The type of its values.", t.oneOf(variableTypes)),
    },
    {
      description: t.about(
        "What the value stands for, so that people who start a run know what to give.",
        Type.String({ maxLength: 1024 }),
      ),
      default: t.about(
        "The value of a run that gives none: a string, a number or a boolean, as its type says.",
        Type.Unknown(),
      ),
      required: t.about(
        "Whether a run without a value is refused. Without a value and a default, it is an empty text.",
        Type.Boolean(),
      ),
      enum: t.about(
        "The only values of a `string`.",
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 100, uniqueItems: true }),
      ),
    },
  ),
);

type VariableInput = Static<typeof VariableInput>;

/** A name, or a name and a version: `tone@3`. */
const snippetReference = `${snippetName.slice(0, -1)}(@[1-9][0-9]{0,8})?$`;

const DoorsInput = t.named(
  "DoorsInput",
  t.partial({
    mcp: t.about("Whether it is a tool for MCP clients.", Type.Boolean()),
    a2a: t.about("Whether it is an agent for A2A clients.", Type.Boolean()),
  }),
);

/** Pinned fields that a fork may override. */
export type AgentEdits = Pick<AgentOverrides, "instructions" | "model" | "models">;

interface DefinitionField<Request extends TSchema, Response extends TSchema, Stored> {
  request: Request;
  /** Without a description, it has that of `request`. */
  response: Response;
  /** Value for an agent that is created without the field. */
  initial: Stored;
  /** Value for an agent that was stored before the field existed; default: `initial`. */
  stored?: Stored;
  /** Converts the given value to the stored one; default: unchanged. */
  keep?(given: Static<Request>, factsOf: FactsOf): Stored;
  /** Fields that a run pins. */
  pin?(stored: Stored, factsOf: FactsOf): Partial<AgentSnapshot>;
}
const field = <Request extends TSchema, Response extends TSchema, Stored>(
  each: DefinitionField<Request, Response, Stored>,
) => each;

/** Fields of an agent beside name, model, tools and metadata, in the order of responses. */
export const definitionFields = {
  description: field({
    request: t.about(
      "What the agent is for: other agents and MCP clients read it to choose; null: no description.",
      t.orNull(Type.String({ maxLength: 4096 })),
    ),
    response: t.orNull(t.text),
    initial: null as string | null,
  }),
  instructions: field({
    request: overridableFields.instructions,
    response: t.text,
    initial: "",
    pin: (instructions) => ({ instructions }),
  }),
  variables: field({
    request: t.about(
      "Variables of its instructions and of its tools' descriptions, where `{{name}}` stands for the value that a run gives; null: none, and `{{name}}` is text.",
      t.orNull(Type.Array(VariableInput, { maxItems: limits.variables_per_agent })),
    ),
    response: t.about(
      "Variables of its instructions and of its tools' descriptions.",
      t.withType<CoreVariable[]>(t.list(wire.Variable)),
    ),
    initial: [] as CoreVariable[],
    keep: (list) => (list ?? []).map(keptVariable),
    pin: (variables) => (variables.length > 0 ? { variables } : {}),
  }),
  snippets: field({
    request: t.about(
      "Snippets of its instructions, where `{{> name}}` stands for the text: `name` is the newest version, `name@3` the third; null: none.",
      t.orNull(
        Type.Array(Type.String({ pattern: snippetReference, examples: ["greeting@2"] }), {
          maxItems: limits.snippets_per_agent,
        }),
      ),
    ),
    response: t.about("Snippets of its instructions, as `name` or `name@version`.", t.list(t.text)),
    initial: [] as string[],
    keep: (list) => list ?? [],
  }),
  models: field({
    request: overridableFields.models,
    response: t.about(
      "Its models in their order, where there are several; `model` is the first.",
      t.optional(t.list(t.text)),
    ),
    initial: undefined as string[] | undefined,
    pin: (models) => (models ? { models } : {}),
  }),
  failover_on: field({
    request: t.about(
      "Failures after which the next model is asked. `rate_limit`: the provider's rate limit, after retries. `outage`: the server is away, silent or fails, or refuses the credentials or the model. `overflow`: the prompt is too long, and the next model has a larger window. `content_filter`: a filter of the provider stopped the answer; not by default; null: the default.",
      t.orNull(
        Type.Array(t.oneOf(failoverReasons), { minItems: 1, maxItems: failoverReasons.length, uniqueItems: true }),
      ),
    ),
    response: t.about(
      "Failures after which the next model is asked; absent: `rate_limit`, `outage` and `overflow`.",
      t.optional(t.list(t.oneOf(failoverReasons))),
    ),
    initial: undefined as FailoverReason[] | undefined,
    keep: (failover_on): FailoverReason[] | undefined => failover_on ?? undefined,
    pin: (failover_on) => (failover_on ? { failover_on } : {}),
  }),
  model_settings: field({
    request: t.about("Settings of the model; the provider's defaults apply to what is left out.", ModelSettings),
    response: t.withType<CoreModelSettings>(t.anyObject),
    initial: {} as CoreModelSettings,
    pin: (settings) => ({ settings }),
  }),
  output_schema: field({
    request: overridableFields.output_schema,
    response: t.orNull(t.anyObject),
    initial: null as JsonSchema | null,
    pin: (output_schema) => ({ output_schema }),
  }),
  max_turns: field({
    request: overridableFields.max_turns,
    response: t.integer,
    initial: 25,
    pin: (max_turns) => ({ max_turns }),
  }),
  guardrails: field({
    request: t.about(
      "Rules that check the input and output of its runs; null: none.",
      t.orNull(Type.Array(GuardrailInput, { maxItems: guardrailLimits.list })),
    ),
    response: t.about("Rules that check the input and output of its runs.", t.list(wire.Guardrail)),
    initial: [] as Guardrail[],
    keep: (list) => (list ?? []).map(({ type, on, action, config = {} }) => ({ type, on, action, config })),
    pin: (guardrails) => (guardrails.length > 0 ? { guardrails } : {}),
  }),
  budget: field({
    request: t.about("What it may spend; null: no budget of its own.", t.orNull(Budget)),
    response: t.orNull(wire.Budget),
    initial: null as CoreBudget | null,
    pin: (budget) => (budget ? { budget } : {}),
  }),
  provider_tools: field({
    request: t.about(
      "Tools that the model's provider runs itself, such as its web search; null: none.",
      t.orNull(Type.Array(ProviderToolInput, { maxItems: providerToolTypes.length })),
    ),
    response: t.about("Tools that the model's provider runs itself.", t.list(wire.ProviderTool)),
    initial: [] as ProviderTool[],
    keep: (list) => (list ?? []).map(({ max_uses = defaultUses, ...tool }): ProviderTool => ({ ...tool, max_uses })),
    pin: (provider_tools) => (provider_tools.length > 0 ? { provider_tools } : {}),
  }),
  tool_loading: field({
    request: overridableFields.tool_loading,
    response: t.oneOf(toolLoadings),
    initial: "auto" as ToolLoading,
  }),
  memory: field({
    request: t.about(
      "What its runs remember. Left out of a new agent, it is `{}`: no stores, its thread and the defaults. With null it remembers nothing, and no prompt is cut.",
      t.orNull(MemoryInput),
    ),
    response: t.orNull(wire.MemoryPolicy),
    initial: defaultPolicy as MemoryPolicy | null,
    stored: null,
    keep: completePolicy,
    pin: (memory, factsOf) => (memory ? { memory: pinnedPolicy(memory, factsOf) } : {}),
  }),
  skills: field({
    request: t.about(
      "Skills that its runs may load, each by its id or name, or as an object with a version; null: none.",
      t.orNull(SkillsInput),
    ),
    response: t.about("Skills that its runs may load.", SkillReferences),
    initial: [] as SkillReference[],
    // The store has completed them.
    keep: (list) => (list ?? []) as SkillReference[],
  }),
  prompt_caching: field({
    request: t.about(
      "Whether providers may cache its prompts, which makes long conversations cheaper: `auto` wherever a provider can, or `off`.",
      t.oneOf(promptCachings),
    ),
    response: t.oneOf(promptCachings),
    initial: "auto" as PromptCaching,
    pin: (prompt_caching) => ({ prompt_caching }),
  }),
  handoffs: field({
    request: t.about(
      "Agents that may go on with its conversations: for each, the model gets a tool `transfer_to_<name>`. Ids, or objects with more settings; null: none.",
      t.orNull(Type.Array(HandoffInput, { maxItems: limits.handoffs_per_agent })),
    ),
    response: t.about("Agents that may go on with its conversations.", t.list(wire.Handoff)),
    initial: [] as AgentHandoff[],
    keep: (list) => (list ?? []).map(completeHandoff),
  }),
  input_schema: field({
    request: t.about(
      "The JSON Schema of the run's input, and of the arguments that MCP clients send; null: the input is text.",
      overridableFields.output_schema,
    ),
    response: t.orNull(t.anyObject),
    initial: null as JsonSchema | null,
  }),
  doors: field({
    request: t.about("The protocols by which clients reach it, beside the API. All are off by default.", DoorsInput),
    response: wire.Doors,
    initial: noProtocols,
    keep: (doors): Protocols => ({ ...noProtocols, ...doors }),
  }),
};

/** Leaves out what says nothing, so that equal variables are stored equally. */
function keptVariable({
  name,
  type,
  description,
  default: preset,
  required,
  enum: choices,
}: VariableInput): CoreVariable {
  return {
    name,
    type,
    ...(description && { description }),
    ...(preset !== undefined && { default: preset as VariableValue }),
    ...(required && { required }),
    ...(choices && { enum: choices }),
  };
}

type Fields = typeof definitionFields;
export type DefinitionFieldName = keyof Fields;

/** Stored fields of an agent beside name and model. */
export type Definition = { [Name in DefinitionFieldName]: Fields[Name]["initial"] };

const schemas = <Side extends "request" | "response">(side: Side) => {
  const entries: [string, Record<"request" | Side, TSchema>][] = Object.entries(definitionFields);
  return Object.fromEntries(
    entries.map(([name, { request, [side]: schema }]) => [name, t.about(schema.about ?? request.about, schema)]),
  ) as unknown as {
    [Name in DefinitionFieldName]: Fields[Name][Side];
  };
};
const { instructions, models, max_turns, output_schema, ...optional } = schemas("request");
const { model, tools } = overridableFields;
const name = t.about(
  "The name that you give the agent. Requests may name the agent by it in place of its id.",
  Type.String({ minLength: 1, maxLength: limits.name_length }),
);
const others = {
  model,
  models,
  tools: t.about("Ids of the tools that it may call: `tool_…`.", tools),
  max_turns,
  output_schema,
  ...optional,
  metadata: Metadata,
};

export const CreateAgent = t.partly({ name, instructions }, others);
export type CreateAgent = Static<typeof CreateAgent>;

/** Body of `PUT /v1/agents/by-name/:name`. */
export const SyncAgent = t.partly({ instructions }, others);
export type SyncAgent = Static<typeof SyncAgent>;

export const UpdateAgent = t.partial({
  name,
  instructions,
  ...others,
  expected_version: t.about(
    "The version that is to be changed; 409 `version_conflict` where there is a newer one.",
    Type.Integer({ minimum: 1 }),
  ),
});
export type UpdateAgent = Static<typeof UpdateAgent>;

// In the order of the response.
const { description, instructions: system, models: severalModels, model_settings, ...rest } = schemas("response");
const agent = {
  name: t.about("The name that you gave the agent. Requests may name the agent by it in place of its id.", t.text),
  description,
  instructions: system,
  model: ModelName,
  models: severalModels,
  model_settings,
  tools_count: t.about("How many tools the agent has.", t.integer),
  ...rest,
  version: t.about("Its version, from 1. Each change makes a new one.", t.integer),
};

export const Agent = resource("Agent", "agent", {
  ...agent,
  tools: t.about("The tools that it may call, each with its id, name and type.", t.list(wire.ToolReference)),
  updated_at: UpdatedAt,
});
export type Agent = Static<typeof Agent>;

export const AgentSync = t.named(
  "AgentSync",
  t.object({
    object: objectOf("agent_sync"),
    ...setResult,
    agent: t.about("The agent as it is now, or would be with `dry_run`.", Agent),
    ...envelope,
  }),
);
export type AgentSync = Static<typeof AgentSync>;

export const agentFilters = nameFilter;

export const AgentListItem = resource("AgentListItem", "agent", {
  ...agent,
  tools: t.about("How many tools it may call; `GET /v1/agents/:id` lists them.", t.integer),
  updated_at: UpdatedAt,
});
export type AgentListItem = Static<typeof AgentListItem>;

export const AgentVersion = resource("AgentVersion", "agent_version", {
  id: t.about("The id of the agent, which all of its versions share: `agt_…`.", t.text),
  ...agent,
  tools: t.about("The tools that it may call, each with its id, name and type.", t.list(wire.ToolReference)),
});
export type AgentVersion = Static<typeof AgentVersion>;
