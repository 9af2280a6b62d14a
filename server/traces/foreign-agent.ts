import { type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import {
  type AgentSnapshot,
  contextStrategies,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
  memoryOperations,
  mostTurns,
  toolTypes,
  unknownPolicies,
} from "../core/agent-snapshot.ts";
import { Budget } from "../core/budget-schema.ts";
import { Count, Flag, Id, Json, Milliseconds, ModelName, many, Short, Text, True } from "../core/fields.ts";
import { reasoningEfforts, toolChoices } from "../core/providers.ts";
import { checkGuardrails } from "../guardrails/check.ts";
import { checkSchema } from "../lib/json-schema.ts";
import { lazy } from "../lib/lazy.ts";
import { exact, oneOf, optional, orNull } from "../lib/schema.ts";
import { dotted } from "./foreign-event.ts";

/** What would be reached stays behind; a list of stores that has one is refused. */
const NoStores = Type.Array(Type.Never(), { maxItems: 0 });

const Tool = exact({
  id: Id,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Text,
  parameters: Json,
  type: oneOf([...toolTypes, "memory"] as const),
  approval: Type.Union([Type.Literal("never"), Type.Literal("always"), exact({ when: Json })]),
  idempotent: Flag,
  on_unknown: oneOf(unknownPolicies),
  max_output_bytes: Count,
  http: Type.Null(),
  of_request: optional(True),
  memory: optional(exact({ operation: oneOf(memoryOperations), stores: NoStores })),
});

const Settings = exact({
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  max_output_tokens: optional(Count),
  reasoning_effort: optional(oneOf(reasoningEfforts)),
  parallel_tool_calls: optional(Flag),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: optional(Type.Integer()),
  stop: optional(many(Short, 100)),
  tool_choice: optional(Type.Union([oneOf(toolChoices), exact({ name: Short })])),
  script: optional(
    many(
      exact({
        text: optional(Text),
        reasoning: optional(Text),
        tool_calls: optional(many(exact({ name: Short, arguments: Json }), 200)),
        error: optional(Short),
        delay_ms: optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
        delta_ms: optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
      }),
    ),
  ),
});

const Agent = exact({
  id: Id,
  version: Count,
  name: Short,
  model: ModelName,
  instructions: Text,
  settings: Settings,
  tools: many(Tool),
  max_turns: Type.Integer({ minimum: 1, maximum: mostTurns }),
  output_schema: orNull(Json),
  guardrails: optional(
    many(
      exact({
        type: oneOf(guardrailTypes),
        on: Type.Array(oneOf(guardrailPoints), { minItems: 1, maxItems: 4, uniqueItems: true }),
        action: oneOf(guardrailActions),
        config: Json,
      }),
      100,
    ),
  ),
  budget: optional(orNull(Budget)),
  memory: optional(
    exact({
      stores: NoStores,
      history: exact({ mode: oneOf(["none", "thread"] as const), max_messages: Count }),
      context: exact({
        strategy: oneOf(contextStrategies),
        reserve_output_tokens: Milliseconds,
        tool_output_max_bytes: Count,
      }),
    }),
  ),
  unavailable: optional(many(exact({ tool: Short, message: Text }))),
} satisfies Record<keyof AgentSnapshot, TSchema>);

const check = lazy(() => TypeCompiler.Compile(Agent));

/** An agent of elsewhere, as harmless as {@link file://./exported-agent.ts} makes them, or what is wrong with it. */
export function readAgent(given: unknown): { agent: AgentSnapshot } | { path: string; message: string } {
  if (!check().Check(given)) {
    const fault = check().Errors(given).First();
    return { path: dotted(fault?.path ?? ""), message: `${fault?.message ?? "This is not an agent"}.` };
  }
  const agent = given as AgentSnapshot;
  const [fault] = rulesOf(agent);
  return fault ?? { agent };
}

/** What is compiled when a run is replayed or forked is judged as for an agent of our own: patterns and schemas. */
function rulesOf({ guardrails = [], tools, output_schema }: AgentSnapshot): { path: string; message: string }[] {
  const schemas: [string, unknown][] = tools.flatMap(({ parameters, approval }, i) => [
    [`tools.${i}.parameters`, parameters] as [string, unknown],
    ...(typeof approval === "object" ? [[`tools.${i}.approval.when`, approval.when] as [string, unknown]] : []),
  ]);
  if (output_schema) schemas.push(["output_schema", output_schema]);
  return [
    ...checkGuardrails(guardrails).map(({ param, message }) => ({ path: param ?? "guardrails", message })),
    ...schemas.flatMap(([path, schema]) => checkSchema(schema).map((message) => ({ path, message: `${message}.` }))),
  ];
}
