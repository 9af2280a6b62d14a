import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { AppError, type Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import {
  defaultUses,
  limitsUses,
  mixesTools,
  type ProviderTool,
  toolsOfProvider,
  unknownFilter,
} from "../../domain/provider-tools.ts";
import type { Environment } from "../../domain/scope.ts";
import { escapeTemplate } from "../../domain/template.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { AgentOverrides } from "../../http/schemas.ts";
import { nameIssues } from "../../http/validate-name.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { checkGuardrails } from "../../runtime/guardrails/check.ts";
import { type ModelName, parseModel } from "../../runtime/models/registry.ts";
import { type FactsOf, withHistory } from "./memory-policy.ts";
import {
  type CreateAgent,
  type Definition,
  type DefinitionFieldName,
  definitionFields,
  type UpdateAgent,
} from "./schema.ts";

const fieldNames = Object.keys(definitionFields) as DefinitionFieldName[];

const initial = Object.fromEntries(fieldNames.map((name) => [name, definitionFields[name].initial])) as Definition;
const before = Object.fromEntries(
  fieldNames.map((name) => [name, { stored: initial[name], ...definitionFields[name] }.stored]),
) as Definition;

/** Completes a stored definition with the fields that were added later. */
export const readDefinition = <T extends Definition>(stored: object): T => ({ ...before, ...stored }) as T;

/** Omits the test model's script, for lists. */
export function withoutScript<T extends Pick<Definition, "model_settings">>(agent: T): T & { truncated?: string[] } {
  const { script, ...model_settings } = agent.model_settings;
  return script ? { ...agent, model_settings, truncated: ["model_settings"] } : agent;
}

export interface ToolReference {
  id: string;
  name: string;
  type: string;
}

/** An agent at one version. Its tools are copied, because they may have been deleted since. */
export interface VersionDefinition extends Definition {
  name: string;
  model: string;
  tools: ToolReference[];
}

/** A field without its own types, because a loop over all fields cannot express them. */
type AnyField = {
  keep?(given: unknown, factsOf: FactsOf): unknown;
  pin?(kept: unknown, factsOf: FactsOf): Partial<AgentSnapshot>;
};
const fieldOf = (name: DefinitionFieldName): AnyField => definitionFields[name] as AnyField;

/** Applies changes to an earlier definition or to the defaults; `factsOf` looks up memory stores. */
export function changeDefinition(
  input: CreateAgent | UpdateAgent,
  before: Definition | null,
  factsOf: FactsOf,
): Definition {
  const base = before ?? initial;
  const values = fieldNames.map((name) => {
    const { keep } = fieldOf(name);
    if (input[name] === undefined) return [name, base[name]];
    return [name, keep ? keep(input[name], factsOf) : input[name]];
  });
  const after: Definition = Object.fromEntries(values);
  // One model replaces several.
  return input.model === undefined || input.models ? after : { ...after, models: undefined };
}

/** Applies a run's overrides: instructions are appended, and the output limit can only be lowered. */
export function overrideDefinition(
  definition: Definition,
  {
    additional_instructions: additionalInstructions = "",
    model_settings,
    history,
    ...different
  }: Omit<AgentOverrides, "tools" | "model" | "models">,
): Definition {
  const after = { ...definition, ...different };
  const { max_output_tokens: maxOutputTokens = Number.POSITIVE_INFINITY } = definition.model_settings;
  const settings: Definition["model_settings"] = { ...definition.model_settings, ...model_settings };
  if (settings.max_output_tokens !== undefined)
    settings.max_output_tokens = Math.min(maxOutputTokens, settings.max_output_tokens);
  return {
    ...after,
    ...(history && { memory: withHistory(definition.memory, history) }),
    instructions: [after.instructions, asText(additionalInstructions, definition)]
      .filter((text) => text !== "")
      .join("\n\n"),
    model_settings: settings,
  };
}

/** Appended instructions are no template: their braces stay text. */
const asText = (text: string, { variables, snippets }: Pick<Definition, "variables" | "snippets">): string =>
  variables.length === 0 && snippets.length === 0 ? text : escapeTemplate(text);

/** Fields of a definition that a run pins. */
export const pinnedFields = (definition: Definition, factsOf: FactsOf) =>
  Object.assign({}, ...fieldNames.map((name) => fieldOf(name).pin?.(definition[name], factsOf))) as Pick<
    AgentSnapshot,
    "instructions" | "settings" | "max_turns" | "output_schema"
  > &
    Partial<AgentSnapshot>;

export type ModelAvailable = (model: string, environment: Environment) => boolean;

/** Returns the models that a request names, in their order; empty if it names none. */
export const modelsIn = ({ model, models }: Pick<AgentOverrides, "model" | "models">): string[] =>
  models ?? (model === undefined ? [] : [model]);

/** Throws with every fault that a schema cannot express; `prefix` is prepended to the parameter names. */
export function checkAgent(
  input: CreateAgent | UpdateAgent | AgentOverrides,
  environment: Environment,
  modelAvailable: ModelAvailable,
  prefix = "",
): void {
  const faults: Fault[] = "name" in input ? nameIssues(input.name) : [];
  const { model, models = [], output_schema } = input;
  // A response has both, and may be sent back.
  if (model !== undefined && models.length > 0 && model !== models[0])
    faults.push(fault(`${prefix}models`, "Must not be given beside model."));
  for (const name of ["instructions", "additional_instructions"] as const)
    if (Buffer.byteLength((input as AgentOverrides)[name] ?? "") > limits.instructions_bytes)
      faults.push(fault(`${prefix}${name}`, `Must have at most ${limits.instructions_bytes} bytes.`));
  if (output_schema)
    for (const message of checkSchema(output_schema, { patterns: "unchecked" }))
      faults.push(fault(`${prefix}output_schema`, `${message}.`));
  const input_schema = "input_schema" in input ? input.input_schema : null;
  if (input_schema) {
    for (const message of checkSchema(input_schema, { patterns: "unchecked" }))
      faults.push(fault(`${prefix}input_schema`, `${message}.`));
    if (input_schema.type !== "object") faults.push(fault(`${prefix}input_schema`, "Must be a schema of objects."));
  }
  const guardrails = ("guardrails" in input && input.guardrails) || [];
  faults.push(...checkGuardrails(guardrails));
  throwIfInvalid(faults);
  if (model !== undefined) checkModel(model, environment, modelAvailable, `${prefix}model`);
  for (const [i, each] of models.entries()) checkModel(each, environment, modelAvailable, `${prefix}models[${i}]`);
  for (const [i, { type, config }] of guardrails.entries())
    if (type === "llm_judge" && typeof config?.model === "string")
      checkModel(config.model, environment, modelAvailable, `guardrails[${i}].config.model`);
}

/** Requires judges of the agent's own providers, so that its texts and its key reach no other provider. */
export function checkJudges(
  models: readonly string[],
  guardrails: readonly { type: string; config?: Record<string, unknown> }[],
): void {
  const own = models.map(parseModel);
  const isOwn = (judge: ModelName | null) =>
    own.some((each) => judge?.provider === each?.provider && judge?.connection === each?.connection);
  const faults = guardrails.flatMap(({ type, config }, i) => {
    if (type !== "llm_judge" || typeof config?.model !== "string" || isOwn(parseModel(config.model))) return [];
    const message = `Must be a model of the agent's own provider (${models.join(", ")}).`;
    return [fault(`guardrails[${i}].config.model`, message)];
  });
  throwIfInvalid(faults);
}

/** Throws if the model's provider does not run these tools itself, or not beside the agent's own. */
export function checkProviderTools(
  model: string,
  tools: readonly ProviderTool[],
  hasTools: boolean,
  prefix = "",
): void {
  const parsed = parseModel(model);
  const { provider, model: name } = parsed ?? { provider: "", model: "" };
  const known = toolsOfProvider(provider);
  const faults = tools.flatMap((tool, index): Fault[] => {
    const param = `${prefix}provider_tools[${index}]`;
    if (!known.includes(tool.type))
      return [fault(`${param}.type`, `The provider of ${model} does not run ${tool.type} itself.`)];
    if (tools.findIndex(({ type }) => type === tool.type) < index)
      return [fault(`${param}.type`, "The tool is named twice.")];
    const { allowed_domains, blocked_domains } = tool;
    if (allowed_domains && blocked_domains)
      return [fault(`${param}.blocked_domains`, "Must not be given beside allowed_domains.")];
    const filter = unknownFilter(provider, tool);
    if (filter) return [fault(`${param}.${filter}`, `${tool.type} of ${provider} has no such filter.`)];
    if (limitsUses(provider, tool.type) || tool.max_uses === defaultUses) return [];
    return [fault(`${param}.max_uses`, `${tool.type} of ${provider} has no limit of its uses: leave max_uses out.`)];
  });
  if (tools.length > 0 && hasTools && known.length > 0 && !mixesTools(provider, name))
    faults.push(fault(`${prefix}provider_tools`, `${model} takes either its provider's tools or tools of the agent.`));
  throwIfInvalid(faults);
}

function checkModel(model: string, environment: Environment, available: ModelAvailable, param: string): void {
  const refusal = (reason: string) => new AppError("model_not_available", `${param}: ${reason}`, { param });
  const parsed = parseModel(model);
  if (!parsed) throw refusal("Must be <provider>/<model>, such as openai/gpt-5.");
  if (environment === "live" && parsed.provider === "test") throw refusal("Test models serve test keys only.");
  if (available(model, environment)) return;
  if (parsed.provider === "test") throw refusal("There is no test model of this name.");
  throw refusal(
    `There is no connection for this model. "runnel models add ${parsed.connection}" adds one where the server runs.`,
  );
}
