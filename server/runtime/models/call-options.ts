import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { maskedValue } from "../../lib/exact-masks.ts";
import { isObject, parsedJson } from "../../lib/json.ts";
import type { AssistantPart, ModelRequest, PromptImage, PromptMessage } from "./model.ts";
import type { Format } from "./model-stream.ts";
import { paired, providerContent, toProviderTools } from "./provider-tools.ts";
import { mendName } from "./tool-names.ts";

type Schema = LanguageModelV4FunctionTool["inputSchema"];
type ToolOutput = LanguageModelV4ToolResultPart["output"];
type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** Converts a request to the AI SDK's provider interface; adapters add settings of single providers. */
export function callOptions(request: ModelRequest, format: Format, provider = ""): LanguageModelV4CallOptions {
  const { settings, output_schema } = request;
  const tools = [...request.tools.map(toTool), ...toProviderTools(provider, request.provider_tools)];
  return {
    prompt: toPrompt(request.messages, provider),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.top_p !== undefined && { topP: settings.top_p }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
    ...(settings.stop !== undefined && { stopSequences: settings.stop }),
    ...(settings.max_output_tokens !== undefined && { maxOutputTokens: settings.max_output_tokens }),
    ...(settings.reasoning_effort !== undefined && { reasoning: settings.reasoning_effort }),
    ...(tools.length > 0 && { tools, toolChoice: toChoice(settings.tool_choice) }),
    ...(output_schema &&
      format !== "text" && {
        responseFormat: {
          type: "json" as const,
          ...(format === "schema" && { schema: masked(output_schema) as Schema, name: "output" }),
        },
      }),
  };
}

/** Gemini, the only one of these providers with audio, knows MP3 under this name. */
const toAudio = (recording: PromptImage) => ({
  ...toFile(recording),
  mediaType: recording.mime_type === "audio/mpeg" ? "audio/mp3" : recording.mime_type,
});

/** Masks numbers so that the SDK keeps their digits; `exactFetch` restores them. */
const masked = (value: object): object => maskedValue(value) as object;

function toChoice(choice: ModelRequest["settings"]["tool_choice"] = "auto"): LanguageModelV4ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name };
}

function toTool(tool: ModelRequest["tools"][number]): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: masked(tool.parameters) as Schema,
  };
}

function toPrompt(messages: PromptMessage[], provider: string): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") addResult(prompt, toResult(message));
    else if (message.role === "system") prompt.push({ role: "system", content: message.content });
    else if (message.role === "user") prompt.push(toUser(message, provider));
    else if (messages[index + 1]?.role !== "assistant") addAnswer(prompt, answerUpTo(messages, index), provider);
  }
  return prompt;
}

/** Joins the answers that end at this message without another between them: a provider may pause within a call. */
function answerUpTo(messages: readonly PromptMessage[], end: number): AssistantPart[] {
  const start = messages.findLastIndex(({ role }, index) => index < end && role !== "assistant") + 1;
  const parts = messages
    .slice(start, end + 1)
    .flatMap((message) => (message.role === "assistant" ? message.parts : []));
  return paired(parts, end === messages.length - 1);
}

function toUser(message: Extract<PromptMessage, { role: "user" }>, provider: string): LanguageModelV4Message {
  const { content, images = [], audio = [], documents = [] } = message;
  const files = [...images.map(toFile), ...audio.map(toAudio)];
  const named = documents.map((document) => ({ ...toFile(document), filename: document.filename }));
  const shown = [...files, ...named];
  if (!isRefusedText(content, provider)) return { role: "user", content: [{ type: "text", text: content }, ...shown] };
  return { role: "user", content: shown.length > 0 ? shown : [{ type: "text", text: "(empty)" }] };
}

/** True for a text of white space alone at Anthropic, which refuses the whole request for it. */
const isRefusedText = (text: string, provider: string): boolean => provider === "anthropic" && text.trim() === "";

const toFile = ({ mime_type, data = "" }: PromptImage) => ({
  type: "file" as const,
  mediaType: mime_type,
  data: { type: "data" as const, data },
});

/** Merges consecutive results into one message: Google requires all results of parallel calls in one turn. */
function addResult(prompt: LanguageModelV4Prompt, result: LanguageModelV4ToolResultPart): void {
  const last = prompt.at(-1);
  if (last?.role === "tool") last.content.push(result);
  else prompt.push({ role: "tool", content: [result] });
}

function toResult(message: Extract<PromptMessage, { role: "tool" }>): LanguageModelV4ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: message.call_id,
    toolName: mendName(message.tool),
    output: toOutput(message),
  };
}

function toOutput({ output, is_error, images }: Extract<PromptMessage, { role: "tool" }>): ToolOutput {
  if (!images) return { type: is_error ? "error-text" : "text", value: output };
  const text = { type: "text" as const, text: is_error ? `[The tool failed]\n${output}` : output };
  return { type: "content", value: [text, ...images.map(toFile)] };
}

/** Skips empty answers: Anthropic refuses messages and text parts without content. An interrupted answer may be one. */
function addAnswer(prompt: LanguageModelV4Prompt, parts: AssistantPart[], provider: string): void {
  const content = parts
    .filter(
      (part) => part.type !== "text" || part.metadata || !(part.text === "" || isRefusedText(part.text, provider)),
    )
    .flatMap((part) => providerContent(provider, part) ?? [toPart(part)]);
  if (content.length > 0) prompt.push({ role: "assistant", content });
}

function toPart(part: AssistantPart): AssistantContent[number] {
  const metadata = part.metadata && { providerOptions: part.metadata as SharedV4ProviderOptions };
  if (part.type !== "tool_call") return { type: part.type, text: part.text, ...metadata };
  const input = masked(toInput(part.arguments));
  return { type: "tool-call", toolCallId: part.id, toolName: mendName(part.name), input, ...metadata };
}

/**
 * Parses arguments. Invalid ones become text in an object, because providers accept only objects: the model sees its
 * text beside the tool error.
 */
export function toInput(text: string): Record<string, unknown> {
  const input = parsedJson(text);
  return isObject(input) ? input : { unreadable_arguments: text };
}
