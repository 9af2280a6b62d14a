import { fieldsOf } from "../../../lib/json.ts";
import { leftOut } from "../chat-adjustments.ts";
import type { ModelRequest, RequestAdjustment } from "../model.ts";
import type { ConverseBody } from "./bedrock-request.ts";

/** Returns the differences between a request's body and the settings that were asked for. */
export function adjustmentsOf(
  { settings, tools, provider_tools = [] }: ModelRequest,
  body: ConverseBody,
): RequestAdjustment[] {
  const { maxTokens, temperature, topP, stopSequences } = fieldsOf(body.inferenceConfig);
  const { thinking, reasoning, reasoning_effort, reasoningConfig, tool_choice } = fieldsOf(
    body.additionalModelRequestFields,
  );
  const effort = settings.reasoning_effort === "none" ? undefined : settings.reasoning_effort;
  const isForced = settings.tool_choice !== undefined && !["auto", "none"].includes(String(settings.tool_choice));
  const isSingle = settings.parallel_tool_calls === false && tools.length > 0 && settings.tool_choice !== "none";
  const ownChoice = fieldsOf(tool_choice).type;
  const pairs: [field: string, isAsked: boolean, isSent: boolean][] = [
    ["temperature", settings.temperature !== undefined, temperature !== undefined],
    ["top_p", settings.top_p !== undefined, topP !== undefined],
    ["stop", settings.stop !== undefined, stopSequences !== undefined],
    ["seed", settings.seed !== undefined, false],
    ["reasoning_effort", effort !== undefined, Boolean(thinking ?? reasoning ?? reasoning_effort ?? reasoningConfig)],
    ["parallel_tool_calls", isSingle, fieldsOf(tool_choice).disable_parallel_tool_use === true],
    [
      "tool_choice",
      isForced && tools.length > 0,
      "toolChoice" in fieldsOf(body.toolConfig) || (ownChoice ?? "auto") !== "auto",
    ],
  ];
  const left = [
    ...pairs.flatMap(([field, isAsked, isSent]) => (isAsked && !isSent ? [leftOut(field)] : [])),
    ...provider_tools.map(({ type }) => leftOut(type)),
  ];
  const isShorter = maxTokens !== settings.max_output_tokens;
  const limit = { field: "max_output_tokens", message: `The model answers with at most ${maxTokens} tokens.` };
  const level = fieldsOf(reasoningConfig).maxReasoningEffort;
  const isLower = effort === "high" || effort === "max" ? level === "medium" : false;
  const lower = {
    field: "reasoning_effort",
    message: `Beside a limit or sampling, the model takes the effort "${level}".`,
  };
  return [...left, ...(isShorter ? [limit] : []), ...(isLower ? [lower] : [])];
}
