import { maskedValue, unmaskedJson } from "../../../lib/exact-masks.ts";
import { isCacheable } from "../cache-breakpoints.ts";
import type { JsonSchema, ModelRequest, ModelSettings, ModelTool } from "../model.ts";
import type { Format } from "../model-stream.ts";
import { withFields } from "../request-extras.ts";
import { splitSystem } from "../stable-prefix.ts";
import { stepOf, thinkingBudget } from "../thinking-budget.ts";
import { type Family, isAnthropic } from "./bedrock-families.ts";
import { type Block, type Message, toMessages, toSystem } from "./bedrock-messages.ts";

type Fields = Record<string, unknown>;

/** Abilities of one of Anthropic's models. */
export interface Claude {
  /** Maximum length of an answer; infinite if unknown. */
  outputMax: number;
  isAdaptive: boolean;
  takesSchema: boolean;
  refusesSampling: boolean;
  refusesForcedTool: boolean;
  mustThink: boolean;
  /** Returns a schema without what Anthropic refuses. */
  mendSchema(schema: object): object;
}

export type ConverseBody = ReturnType<typeof converseBody>;

interface ConverseModel {
  family: Family;
  /** Null for other companies' models. */
  claude: Claude | null;
}

const cachePoint: Block = { cachePoint: { type: "default" } };

/** True if the model can be given a schema for its answer. */
export const takesSchema = ({ family, claude }: ConverseModel): boolean =>
  !isAnthropic(family) || !!claude?.takesSchema;

/** Returns the body of a request to Converse. Fields that the agent does not set are left out. */
export function converseBody(model: ConverseModel, request: ModelRequest, format: Format, caches: boolean) {
  const { family } = model;
  const tools = request.settings.tool_choice === "none" ? [] : request.tools;
  const cache = caches && isCacheable(request) ? family.cache : null;
  const messages = toMessages(request.messages, family, tools.length > 0);
  const split = cache ? splitFirst(request) : null;
  const system = split ?? toSystem(request.messages);
  const thinking = thinkingOf(model, request, messages);
  const schema = format === "schema" ? request.output_schema : undefined;
  if (cache && !request.settings.is_last_prompt) markTurns(messages, cache.results);
  if (cache && system.length > 0) system.push(cachePoint);
  return {
    messages,
    ...(system.length > 0 && { system }),
    ...inferenceConfig(model, request.settings, thinking),
    ...(tools.length > 0 && {
      toolConfig: toolConfig(model, tools, request.settings, (cache?.tools ?? false) && !split),
    }),
    ...(schema && !model.claude && { outputConfig: outputConfig(schema) }),
    ...additionalFields(model, request.settings, { thinking, schema, hasTools: tools.length > 0 }),
  };
}

/** Returns the system prompts with a cache point before the first variable; null if they have no stable beginning. */
function splitFirst({ messages: [first, ...rest], settings }: ModelRequest): Block[] | null {
  const parts = first?.role === "system" ? splitSystem(first.content, settings) : null;
  if (!parts) return null;
  const [stable, after] = parts;
  return [{ text: stable }, cachePoint, { text: after }, ...toSystem(rest)];
}

/** Returns the text of a body, with what the agent adds to it. */
export function bodyText(body: ConverseBody, { extras }: ModelRequest): string {
  const whole = extras ? withFields(withFields(body, extras.body), extras.options) : body;
  return unmaskedJson(JSON.stringify(whole));
}

/** Ends the last two turns of the user with cache points, so that the next request reads what this one writes. */
function markTurns(messages: readonly Message[], afterResults: boolean): void {
  const turns = messages.filter(({ role, content }) => {
    const last = content.at(-1);
    return role === "user" && (afterResults || (last !== undefined && !("toolResult" in last)));
  });
  for (const { content } of turns.slice(-2)) content.push(cachePoint);
}

function inferenceConfig({ family, claude }: ConverseModel, settings: ModelSettings, thinking: Fields | null) {
  const isThinking = thinking !== null && thinking.type !== "disabled";
  const samples = !isThinking && !claude?.refusesSampling;
  const { max_output_tokens, temperature, top_p, stop } = settings;
  const takes = (name: keyof ModelSettings) => !family.refuses.includes(name);
  const config = {
    ...(max_output_tokens !== undefined && { maxTokens: Math.min(max_output_tokens, claude?.outputMax ?? Infinity) }),
    ...(temperature !== undefined && samples && takes("temperature") && { temperature }),
    // Newer models of Anthropic take only one of the two.
    ...(top_p !== undefined && samples && takes("top_p") && !(claude && temperature !== undefined) && { topP: top_p }),
    ...(stop !== undefined && takes("stop") && { stopSequences: stop }),
  };
  return Object.keys(config).length > 0 ? { inferenceConfig: config } : {};
}

function toolConfig({ claude }: ConverseModel, tools: readonly ModelTool[], settings: ModelSettings, cached: boolean) {
  const choice = settings.tool_choice;
  const isForced = choice !== undefined && choice !== "auto" && !claude?.refusesForcedTool;
  // Anthropic's own field has the choice then: two of them are refused.
  const toolChoice =
    isForced && !(claude && settings.parallel_tool_calls === false)
      ? { toolChoice: typeof choice === "string" ? { any: {} } : { tool: choice } }
      : {};
  return { tools: [...tools.map(toTool), ...(cached ? [cachePoint] : [])], ...toolChoice };
}

const toTool = ({ name, description, parameters }: ModelTool): Block => ({
  toolSpec: { name, ...(description.trim() !== "" && { description }), inputSchema: { json: parameters } },
});

/** Bedrock takes the schema as a text. */
const outputConfig = (schema: JsonSchema) => ({
  textFormat: { type: "json_schema", structure: { jsonSchema: { name: "output", schema: JSON.stringify(schema) } } },
});

interface Additions {
  thinking: Fields | null;
  schema: JsonSchema | undefined;
  hasTools: boolean;
}

/** Returns the fields of the model's own API. */
function additionalFields(model: ConverseModel, settings: ModelSettings, more: Additions) {
  const fields = model.claude ? claudeFields(model.claude, settings, more) : effortFields(model.family, settings);
  return Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {};
}

function claudeFields(claude: Claude, settings: ModelSettings, { thinking, schema, hasTools }: Additions): Fields {
  const effort = thinking?.type === "adaptive" ? efforts[settings.reasoning_effort ?? "none"] : undefined;
  const format = schema && { type: "json_schema", schema: claude.mendSchema(maskedValue(schema) as object) };
  const isSingle = hasTools && settings.parallel_tool_calls === false;
  return {
    ...(thinking && { thinking }),
    ...((effort || format) && { output_config: { ...(effort && { effort }), ...(format && { format }) } }),
    ...(isSingle && { tool_choice: { ...claudeChoice(claude, settings), disable_parallel_tool_use: true } }),
  };
}

function claudeChoice({ refusesForcedTool }: Claude, { tool_choice = "auto" }: ModelSettings) {
  if (tool_choice === "auto" || refusesForcedTool) return { type: "auto" };
  return typeof tool_choice === "string" ? { type: "any" } : { type: "tool", name: tool_choice.name };
}

type Effort = NonNullable<ModelSettings["reasoning_effort"]>;
const efforts: Record<Effort, string | undefined> = {
  none: undefined,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  max: "max",
};

/** Returns the reasoning effort as OpenAI's and Amazon's models take it, in three levels. */
function effortFields({ reasoning }: Family, settings: ModelSettings): Fields {
  const asked = efforts[settings.reasoning_effort ?? "none"];
  const effort = asked === "max" ? "high" : asked;
  if (effort === undefined) return {};
  if (reasoning === "effort") return { reasoning_effort: effort };
  if (reasoning === "nested_effort") return { reasoning: { effort } };
  if (reasoning !== "nova") return {};
  // With the highest effort Nova takes neither a limit nor sampling, and a budget needs the limit.
  const isLimited = [settings.max_output_tokens, settings.temperature, settings.top_p].some(
    (each) => each !== undefined,
  );
  return {
    reasoningConfig: { type: "enabled", maxReasoningEffort: isLimited && effort === "high" ? "medium" : effort },
  };
}

// Minimum budget of the API.
const thinkingMin = 1024;

/** Returns Anthropic's thinking within the answer's length; null: as the model does by itself. */
function thinkingOf({ family, claude }: ConverseModel, request: ModelRequest, messages: readonly Message[]) {
  const { reasoning_effort, max_output_tokens, tool_choice } = request.settings;
  if (!claude || family.reasoning !== "thinking" || reasoning_effort === undefined) return null;
  const isForced =
    request.tools.length > 0 && tool_choice !== undefined && tool_choice !== "auto" && tool_choice !== "none";
  if (reasoning_effort === "none" || (isForced && !claude.refusesForcedTool))
    return claude.isAdaptive && !claude.mustThink ? { type: "disabled" } : null;
  if (claude.isAdaptive) return { type: "adaptive" };
  const whole = Math.min(max_output_tokens ?? usualLength, claude.outputMax);
  const budget = thinkingBudget({ ...request.settings, max_output_tokens: whole });
  // Thinking would leave no room for the answer, or a turn that goes on would not begin with its thinking.
  if (budget === null || whole < 2 * thinkingMin || isUnsignedTurn(messages)) return null;
  return { type: "enabled", budget_tokens: Math.min(Math.max(stepOf(budget), thinkingMin), whole - thinkingMin) };
}

// Length of an answer without a limit, for the share of thinking.
const usualLength = 16_384;

/** True if the model goes on with a turn of tool calls that another model began: its thinking is not signed. */
function isUnsignedTurn(messages: readonly Message[]): boolean {
  const { content = [] } = messages.findLast(({ role }) => role === "assistant") ?? {};
  const [first] = content;
  return content.some((block) => "toolUse" in block) && first !== undefined && !("reasoningContent" in first);
}
