import { type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import {
  type AgentSnapshot,
  contextStrategies,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
  historyModes,
  memoryOperations,
  mostTurns,
  toolTypes,
  unknownPolicies,
} from "../../domain/agent-snapshot.ts";
import { Budget } from "../../domain/budget-schema.ts";
import { failoverReasons } from "../../domain/failover.ts";
import { Count, Flag, Id, Json, ModelName, many, Short, Text, True } from "../../domain/fields.ts";
import { limits } from "../../domain/limits.ts";
import { promptCachings } from "../../domain/model-call.ts";
import { providerToolTypes } from "../../domain/provider-tools.ts";
import { reasoningEfforts, toolChoices } from "../../domain/providers.ts";
import { HandoffFilter } from "../../domain/run-event.ts";
import { skillOperations } from "../../domain/skills.ts";
import { variableTypes } from "../../domain/variable.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { lazy } from "../../lib/lazy.ts";
import { closedObject, oneOf, optional, orNull } from "../../lib/schema.ts";
import { checkGuardrails } from "../../runtime/guardrails/check.ts";
import { dotted } from "./import-event.ts";

/** Stores and skills of tools are never imported; a non-empty list is refused. */
const NoStores = Type.Array(Type.Never(), { maxItems: 0 });

const Tool = closedObject({
  id: Id,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Text,
  parameters: Json,
  type: oneOf([...toolTypes, "memory", "tool_search", "skill", "handoff"] as const),
  approval: Type.Union([Type.Literal("never"), Type.Literal("always"), closedObject({ when: Json })]),
  idempotent: Flag,
  on_unknown: oneOf(unknownPolicies),
  max_output_bytes: Count,
  http: Type.Null(),
  of_request: optional(True),
  memory: optional(closedObject({ operation: oneOf(memoryOperations), stores: NoStores })),
  skill: optional(closedObject({ operation: oneOf(skillOperations), skills: NoStores })),
  handoff: optional(closedObject({ agent_id: Id, filter: HandoffFilter })),
});

const Settings = closedObject({
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  max_output_tokens: optional(Count),
  reasoning_effort: optional(oneOf(reasoningEfforts)),
  parallel_tool_calls: optional(Flag),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: optional(Type.Integer()),
  stop: optional(many(Short, 100)),
  tool_choice: optional(Type.Union([oneOf(toolChoices), closedObject({ name: Short })])),
  provider_options: optional(Json),
  headers: optional(Type.Record(Short, Text)),
  extra_body: optional(Json),
  script: optional(
    many(
      closedObject({
        text: optional(Text),
        reasoning: optional(Text),
        tool_calls: optional(many(closedObject({ name: Short, arguments: Json }), 200)),
        error: optional(Short),
        delay_ms: optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
        delta_ms: optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
      }),
    ),
  ),
});

const agentFields = {
  id: Id,
  version: Count,
  name: Short,
  model: ModelName,
  models: optional(many(ModelName, limits.models_per_agent)),
  failover_on: optional(many(oneOf(failoverReasons), failoverReasons.length)),
  instructions: Text,
  settings: Settings,
  tools: many(Tool),
  max_turns: Type.Integer({ minimum: 1, maximum: mostTurns }),
  output_schema: orNull(Json),
  guardrails: optional(
    many(
      closedObject({
        type: oneOf(guardrailTypes),
        on: Type.Array(oneOf(guardrailPoints), { minItems: 1, maxItems: 4, uniqueItems: true }),
        action: oneOf(guardrailActions),
        config: Json,
      }),
      100,
    ),
  ),
  budget: optional(orNull(Budget)),
  prompt_caching: optional(oneOf(promptCachings)),
  provider_tools: optional(
    many(
      closedObject({
        type: oneOf(providerToolTypes),
        max_uses: Count,
        allowed_domains: optional(many(Short, 100)),
        blocked_domains: optional(many(Short, 100)),
      }),
      10,
    ),
  ),
  memory: optional(
    closedObject({
      stores: NoStores,
      history: closedObject({ mode: oneOf(historyModes), max_messages: Count }),
      context: closedObject({
        strategy: oneOf(contextStrategies),
        reserve_output_tokens: Count,
        tool_output_max_bytes: Count,
      }),
    }),
  ),
  variables: optional(
    many(
      closedObject({
        name: Short,
        type: oneOf(variableTypes),
        description: optional(Short),
        default: optional(Type.Union([Text, Type.Number(), Flag])),
        required: optional(True),
        enum: optional(many(Short)),
      }),
    ),
  ),
  snippets: optional(many(closedObject({ name: Short, version: Count, text: Text }))),
  skills: optional(
    many(closedObject({ skill_id: Id, version: Count, name: Short, description: Text }), limits.skills_per_agent),
  ),
  unavailable: optional(many(closedObject({ tool: Short, message: Text }))),
} satisfies Record<Exclude<keyof AgentSnapshot, "team">, TSchema>;

const Agent = closedObject({
  ...agentFields,
  team: optional(many(closedObject(agentFields), limits.agents_per_team)),
} satisfies Record<keyof AgentSnapshot, TSchema>);

const check = lazy(() => TypeCompiler.Compile(Agent));

/**
 * Validates an imported agent, which must be as harmless as {@link file://./exported-agent.ts} makes them. Returns it,
 * or its fault.
 */
export function readAgent(input: unknown): { agent: AgentSnapshot } | { path: string; message: string } {
  if (!check().Check(input)) {
    const fault = check().Errors(input).First();
    return { path: dotted(fault?.path ?? ""), message: `${fault?.message ?? "This is not an agent"}.` };
  }
  const agent = input as AgentSnapshot;
  const [fault] = [agent, ...(agent.team ?? [])].flatMap(rulesOf);
  return fault ?? { agent };
}

/** Applies our own agents' rules to patterns and schemas, because replays and forks compile them. */
function rulesOf({ guardrails = [], tools, output_schema }: AgentSnapshot): { path: string; message: string }[] {
  const schemas: [string, unknown][] = tools.map(({ parameters }, i) => [`tools.${i}.parameters`, parameters]);
  if (output_schema) schemas.push(["output_schema", output_schema]);
  const conditions = tools.flatMap(({ approval }, i): [string, unknown][] =>
    typeof approval === "object" ? [[`tools.${i}.approval.when`, approval.when]] : [],
  );
  const faultsOf = (list: readonly [string, unknown][], patterns: "safe" | "unchecked") =>
    list.flatMap(([path, schema]) =>
      checkSchema(schema, { patterns }).map((message) => ({ path, message: `${message}.` })),
    );
  return [
    ...checkGuardrails(guardrails).map(({ param, message }) => ({ path: param ?? "guardrails", message })),
    ...faultsOf(schemas, "unchecked"),
    ...faultsOf(conditions, "safe"),
  ];
}
