import { toInput } from "./call-options.ts";
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

type ToolCall = Extract<AssistantPart, { type: "tool_call" }>;

/** Returns the body of `POST /chat/completions`. Fields that the agent does not set are left out. */
export function chatRequest(
  model: string,
  { messages, tools, settings, output_schema }: ModelRequest,
  { streamed, format }: Way,
) {
  return {
    model,
    stream: streamed,
    // Without it most servers report no usage in a stream.
    ...(streamed && { stream_options: { include_usage: true } }),
    messages: messages.flatMap(toMessage),
    temperature: settings.temperature,
    top_p: settings.top_p,
    seed: settings.seed,
    stop: settings.stop,
    max_tokens: settings.max_output_tokens,
    reasoning_effort: settings.reasoning_effort,
    ...(tools.length > 0 && {
      tools: tools.map(toTool),
      tool_choice: toChoice(settings.tool_choice),
      parallel_tool_calls: settings.parallel_tool_calls,
    }),
    ...(output_schema && format !== "text" && { response_format: responseFormat(output_schema, format) }),
  };
}

const responseFormat = (schema: JsonSchema, format: "schema" | "json") =>
  format === "json"
    ? { type: "json_object" }
    : { type: "json_schema", json_schema: { name: "output", schema, strict: false } };

const toChoice = (choice: ModelRequest["settings"]["tool_choice"] = "auto") =>
  typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };

const toTool = ({ name, description, parameters }: ModelTool) => ({
  type: "function",
  function: { name, description, parameters },
});

function toMessage(message: PromptMessage): Record<string, unknown>[] {
  if (message.role === "tool") return [{ role: "tool", tool_call_id: message.call_id, content: message.output }];
  if (message.role === "user") return [{ role: "user", content: toContent(message) }];
  if (message.role !== "assistant") return [{ role: message.role, content: message.content }];
  const calls = message.parts.filter((part): part is ToolCall => part.type === "tool_call");
  const [text, reasoning] = [textIn(message.parts, "text"), textIn(message.parts, "reasoning")];
  // An empty answer is left out, because some servers refuse a message without content.
  if (calls.length === 0 && text === "" && reasoning === "") return [];
  return [
    {
      role: "assistant",
      content: calls.length > 0 ? text || null : text,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls.map(toCall) }),
    },
  ];
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

const toCall = ({ id, name, arguments: args, metadata }: ToolCall) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(toInput(args)) },
  // Metadata that the server sent with the call and wants back, such as Gemini's signatures.
  ...(metadata?.extra_content !== undefined && { extra_content: metadata.extra_content }),
});
