import { sha256 } from "../../lib/hash.ts";
import { fieldsOf } from "../../lib/json.ts";
import { toInput } from "./call-options.ts";
import { type ChatDialect, type OptionalField, plainDialect, type ReasoningName } from "./chat-dialect.ts";
import type {
  AssistantPart,
  JsonSchema,
  ModelRequest,
  ModelTool,
  PromptDocument,
  PromptImage,
  PromptMessage,
} from "./model.ts";
import type { Way } from "./model-stream.ts";
import { mendName } from "./tool-names.ts";

type ToolCall = Extract<AssistantPart, { type: "tool_call" }>;

/** Returns the body of `POST /chat/completions`. Fields that the agent does not set are left out. */
export function chatRequest(
  model: string,
  { messages, tools, settings, output_schema }: ModelRequest,
  { streamed, format }: Way,
  dialect: ChatDialect = plainDialect,
) {
  const ifTaken = <T>(field: OptionalField, value: T): T | undefined => (dialect.omits.has(field) ? undefined : value);
  const { reasoning_effort } = settings;
  return {
    model,
    stream: streamed,
    // Without it most servers report no usage in a stream.
    stream_options: streamed ? ifTaken("stream_options", { include_usage: true }) : undefined,
    messages: messages.flatMap((message) => toMessage(message, dialect)),
    temperature: ifTaken("temperature", settings.temperature),
    top_p: ifTaken("top_p", settings.top_p),
    [dialect.seed]: ifTaken("seed", settings.seed),
    stop: ifTaken("stop", settings.stop),
    [dialect.limit]: settings.max_output_tokens,
    ...(reasoning_effort && ifTaken("reasoning_effort", dialect.effort(reasoning_effort, model))),
    ...(tools.length > 0 && {
      tools: tools.map(toTool),
      tool_choice: ifTaken("tool_choice", toChoice(settings.tool_choice)),
      parallel_tool_calls: ifTaken("parallel_tool_calls", settings.parallel_tool_calls),
    }),
    ...(output_schema &&
      format !== "text" && { response_format: responseFormat(output_schema, format, ifTaken("strict", false)) }),
  };
}

const responseFormat = (schema: JsonSchema, format: "schema" | "json", strict: boolean | undefined) =>
  format === "json"
    ? { type: "json_object" }
    : { type: "json_schema", json_schema: { name: "output", schema, strict } };

const toChoice = (choice: ModelRequest["settings"]["tool_choice"] = "auto") =>
  typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };

const toTool = ({ name, description, parameters }: ModelTool) => ({
  type: "function",
  function: { name, description, parameters },
});

function toMessage(message: PromptMessage, dialect: ChatDialect): Record<string, unknown>[] {
  if (message.role === "tool") {
    const content = message.output === "" ? dialect.no_output : message.output;
    return [{ role: "tool", tool_call_id: idFor(message.call_id, dialect), content }];
  }
  if (message.role === "user") return [{ role: "user", content: toContent(message) }];
  if (message.role === "assistant") return toAnswer(message.parts, dialect);
  return [{ role: message.role, content: message.content }];
}

/** Returns an earlier answer. An empty one is left out, because some servers refuse a message without content. */
function toAnswer(parts: AssistantPart[], dialect: ChatDialect): Record<string, unknown>[] {
  const calls = parts.filter((part): part is ToolCall => part.type === "tool_call");
  const [text, given] = [textIn(parts, "text"), textIn(parts, "reasoning")];
  const reasoning = dialect.omits.has("reasoning") ? "" : given;
  if (calls.length === 0 && text.trim() === "" && reasoning === "") return [];
  const name = dialect.reasoning === "as_it_came" ? reasoningName(parts) : dialect.reasoning;
  const isInContent = name === "content_parts" && reasoning !== "";
  const plain = calls.length > 0 && text === "" ? dialect.no_content : text;
  return [
    {
      role: "assistant",
      content: isInContent ? thinkingContent(reasoning, text) : plain,
      ...(!isInContent && reasoningFields(name, reasoning, calls.length > 0, dialect)),
      ...(dialect.reasoning === "as_it_came" && !dialect.omits.has("reasoning") && detailsOf(parts)),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => toCall(call, dialect)) }),
    },
  ];
}

const thinkingContent = (reasoning: string, text: string) => [
  { type: "thinking", thinking: [{ type: "text", text: reasoning }] },
  ...(text === "" ? [] : [{ type: "text", text }]),
];

function reasoningFields(name: ReasoningName, reasoning: string, hasCalls: boolean, dialect: ChatDialect) {
  const isRequired = hasCalls && dialect.requires_reasoning && !dialect.omits.has("reasoning");
  return reasoning !== "" || isRequired ? { [name]: reasoning } : {};
}

/** Name under which the server sent this reasoning; recorded only if it is not the usual one. */
const reasoningName = (parts: AssistantPart[]): ReasoningName =>
  parts
    .map(({ metadata }) => fieldsOf(metadata?.chat).reasoning)
    .find((name): name is ReasoningName => typeof name === "string") ?? "reasoning_content";

/** Returns OpenRouter's details of the reasoning, which it wants back unchanged. */
function detailsOf(parts: AssistantPart[]) {
  const reasoning_details = parts.flatMap(({ metadata }) => {
    const { details } = fieldsOf(metadata?.chat);
    return Array.isArray(details) ? details : [];
  });
  return reasoning_details.length > 0 ? { reasoning_details } : {};
}

/** Returns a text alone as a string, which every server takes. */
function toContent(message: Extract<PromptMessage, { role: "user" }>): string | object[] {
  const { content, images = [], audio = [], documents = [] } = message;
  const parts = [...images.map(toImage), ...audio.map(toAudio), ...documents.map(toFile)];
  return parts.length === 0 ? content : [{ type: "text", text: content }, ...parts];
}

const toAudio = ({ mime_type, data = "" }: PromptImage) => ({
  type: "input_audio",
  input_audio: { data, format: mime_type === "audio/mpeg" ? "mp3" : "wav" },
});

const toFile = ({ filename, mime_type, data = "" }: PromptDocument) => ({
  type: "file",
  file: { filename, file_data: `data:${mime_type};base64,${data}` },
});

const toImage = ({ mime_type, data = "" }: PromptImage) => ({
  type: "image_url",
  image_url: { url: `data:${mime_type};base64,${data}` },
});

/** Joins the text of these parts; a single text, which may be long, is not copied. */
const textIn = (parts: AssistantPart[], type: "text" | "reasoning"): string =>
  parts.reduce((text, part) => (part.type === type ? text + part.text : text), "");

const toCall = ({ id, name, arguments: args, metadata }: ToolCall, dialect: ChatDialect) => ({
  id: idFor(id, dialect),
  type: "function",
  function: { name: mendName(name), arguments: JSON.stringify(toInput(args)) },
  // Metadata that the server sent with the call and wants back, such as Gemini's signatures.
  ...(metadata?.extra_content !== undefined &&
    !dialect.omits.has("extra_content") && { extra_content: metadata.extra_content }),
});

const shortLength = 9;
const isShort = new RegExp(`^[a-zA-Z0-9]{${shortLength}}$`);

/** Returns a call's id for the server: computed from ours, so that a call and its result have the same. */
function idFor(id: string, { call_ids }: ChatDialect): string {
  if (call_ids === "own" || isShort.test(id)) return id;
  return BigInt(`0x${sha256(id)}`)
    .toString(36)
    .slice(-shortLength);
}
