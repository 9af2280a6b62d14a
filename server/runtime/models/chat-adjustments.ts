import type { Adaptation, ChatDialect } from "./chat-dialect.ts";
import type { ModelRequest, RequestAdjustment } from "./model.ts";

/** Returns the differences between a request and what was asked for: settings left out, and what the server refused. */
export function adjustmentsOf(
  { settings, tools, provider_tools = [] }: ModelRequest,
  model: string,
  dialect: ChatDialect,
  learnt: ReadonlySet<Adaptation>,
): RequestAdjustment[] {
  const { temperature, top_p, seed, stop, parallel_tool_calls, tool_choice, reasoning_effort } = settings;
  const hasChange = dialect.omits.size > 0 || learnt.size > 0 || provider_tools.length > 0;
  if (!hasChange && reasoning_effort === undefined) return unchanged;
  const ofTools = tools.length > 0 ? { parallel_tool_calls, tool_choice: forced(tool_choice) } : {};
  const chosen = { temperature, top_p, seed, stop, reasoning_effort, ...ofTools };
  const left = Object.entries(chosen).flatMap(([field, value]) => {
    const isLeft = value !== undefined && dialect.omits.has(field as keyof typeof chosen);
    return isLeft ? [leftOut(field)] : [];
  });
  const effort = reasoning_effort && !dialect.omits.has("reasoning_effort") ? effortChange() : [];

  function effortChange(): RequestAdjustment[] {
    const said = reasoning_effort ? dialect.effort(reasoning_effort, model) : null;
    if (said === null) return [leftOut("reasoning_effort")];
    const word = said.reasoning_effort;
    if (typeof word !== "string" || word === reasoning_effort) return [];
    return [{ field: "reasoning_effort", message: `The model has no effort "${reasoning_effort}": it got "${word}".` }];
  }

  const forms = [...learnt].flatMap((each) => {
    const message = messages[each];
    return message === undefined ? [] : [{ field: fieldNames[each] ?? each, message }];
  });
  return [...left, ...effort, ...forms, ...provider_tools.map(({ type }) => leftOut(type))];
}

const unchanged: RequestAdjustment[] = [];

const forced = (choice: ModelRequest["settings"]["tool_choice"]) => (choice === "auto" ? undefined : choice);

export const leftOut = (field: string): RequestAdjustment => ({
  field,
  message: `The model does not take ${field}, so it was not sent.`,
});

const fieldNames: Partial<Record<Adaptation, string>> = {
  max_completion_tokens: "max_tokens",
  max_tokens: "max_completion_tokens",
  required_reasoning: "reasoning_content",
  short_call_ids: "tool_call_id",
  text_content: "content",
  tool_output: "content",
};

/** Sentences about the parts that a server refused. Settings have sentences of their own. */
const messages: Partial<Record<Adaptation, string>> = {
  stream_options: "The server refused stream_options, so it was not sent.",
  strict: "The server refused strict, so it was not sent.",
  extra_content: "The server refused extra_content, so it was not sent.",
  reasoning: "The server refused the reasoning of earlier answers, so it was not sent.",
  max_completion_tokens: "The server refused max_tokens: the same limit was sent as max_completion_tokens.",
  max_tokens: "The server refused max_completion_tokens: the same limit was sent as max_tokens.",
  required_reasoning: "The server requires reasoning_content in answers with tool calls, even an empty one.",
  short_call_ids: "The server refused the ids of tool calls: they were sent with nine letters and digits.",
  text_content: "The server refused answers without a text: they were sent with an empty one.",
  tool_output: 'The server refused results without a text: they were sent as "(no output)".',
};
