import { callExpected } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { AgentOverrides } from "../../http/schemas.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { CreateRun } from "../../runs/schema.ts";
import type { ChatMessage, ChatPart, CreateChatCompletion } from "./chat-schema.ts";
import {
  audioOf,
  choiceOf,
  effortOf,
  fileOf,
  type InputCall,
  type InputMessage,
  type InputPart,
  imageOf,
  objectOf,
  resultOf,
  type Settings,
  schemaOf,
  toolOf,
  withoutNullSettings,
} from "./request-fields.ts";
import type { Results } from "./results.ts";

/** A parsed chat completion request. */
export interface AskedChat {
  run: Omit<CreateRun, "input"> & { input: InputMessage[] };
  /** Index in the request of each message of the input. */
  places: number[];
  /** Results at the end of the conversation: they go to the run that asked. Null if there are none. */
  results: Results | null;
}

/** Parses a chat completion request. Throws if it uses unsupported features. */
export function readChat(body: CreateChatCompletion): AskedChat {
  const faults: Fault[] = [];
  if ((body.n ?? 1) !== 1) faults.push(fault("n", "One choice is made of each request: expected 1."));
  const read = body.messages.map((message, index) => readMessage(message, `messages[${index}]`, faults));
  const settings = settingsOf(body, faults);
  const tools = (body.tools ?? []).map((tool, index) =>
    toolOf(tool.type, tool.function ?? null, `tools[${index}]`, faults),
  );
  const { response_format: format } = body;
  const form = format && { type: format.type, schema: format.json_schema?.schema };
  const output_schema = schemaOf(form, "response_format", faults);
  throwIfInvalid(faults);
  const messages = read as (InputMessage | string)[]; // Each unreadable message has added a fault.
  const trailing =
    messages.length - 1 - messages.findLastIndex((one) => typeof one === "string" || one.role !== "tool");
  const first = messages.length - trailing;
  const results = trailing > 0 && {
    answers: (messages.slice(first) as InputMessage[]).map(({ tool_call_id, content }) => ({
      tool_call_id: requireValue(tool_call_id, "tool_call_id"),
      ...resultOf(content),
    })),
    places: Array.from({ length: trailing }, (_, index) => first + index),
  };
  const added = messages.filter((one) => typeof one === "string").join("\n\n");
  const overrides: AgentOverrides = {
    ...(added !== "" && { additional_instructions: added }),
    ...(Object.keys(settings).length > 0 && { model_settings: settings }),
    ...(output_schema && { output_schema }),
  };
  const user_id = body.safety_identifier ?? body.user;
  return {
    run: {
      agent_id: body.model,
      input: messages.filter((one) => typeof one !== "string"),
      ...(Object.keys(overrides).length > 0 && { overrides }),
      ...(tools.length > 0 && { tools: tools as NonNullable<CreateRun["tools"]> }),
      ...(user_id && { user_id }),
      ...(body.metadata && { metadata: body.metadata }),
    },
    places: messages.flatMap((one, index) => (typeof one === "string" ? [] : [index])),
    results: results || null,
  };
}

/** Parses a message; returns a string for an instruction. */
function readMessage(message: ChatMessage, path: string, faults: Fault[]): InputMessage | string | null {
  const { role, tool_calls, tool_call_id } = message;
  const text = () => textOf(message, path, faults);
  switch (role) {
    case "system":
    case "developer":
      return text();
    case "user":
      return { role, content: contentOf(message, path, faults) };
    case "assistant": {
      const calls = (tool_calls ?? []).map((call, index) => readCall(call, `${path}.tool_calls[${index}]`, faults));
      return { role, content: text(), ...(calls.length > 0 && { tool_calls: calls }) };
    }
    case "tool":
      if (!tool_call_id) faults.push(fault(`${path}.tool_call_id`, callExpected, "required"));
      return { role, content: toolContent(message, path, faults), tool_call_id: tool_call_id ?? "" };
    default:
      faults.push(fault(`${path}.role`, "Must be one of system, developer, user, assistant, tool."));
      return null;
  }
}

/** Returns the content of a result: text, or text and images. */
function toolContent(message: ChatMessage, path: string, faults: Fault[]): InputMessage["content"] {
  const { content } = message;
  const hasImage = typeof content === "object" && content?.some(({ type }) => type === "image_url");
  return hasImage ? contentOf(message, path, faults) : textOf(message, path, faults);
}

function textOf({ content }: ChatMessage, path: string, faults: Fault[]): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map(({ type, text, refusal }, index) => {
      if (type !== "text" && type !== "refusal")
        faults.push(fault(`${path}.content[${index}].type`, "Only the user shows more than text."));
      return text ?? refusal ?? "";
    })
    .join("\n");
}

function contentOf({ content }: ChatMessage, path: string, faults: Fault[]): InputMessage["content"] {
  if (typeof content === "string") return content;
  return (content ?? []).map((part, index) => partOf(part, `${path}.content[${index}]`, faults));
}

function partOf({ type, text, image_url, file, input_audio }: ChatPart, at: string, faults: Fault[]): InputPart {
  switch (type) {
    case "text":
      return { type, text: text ?? "" };
    case "image_url":
      return imageOf(image_url?.url, `${at}.image_url.url`, faults);
    case "file":
      return fileOf(file, `${at}.file`, faults);
    case "input_audio":
      return audioOf(input_audio, `${at}.input_audio`, faults);
    default:
      faults.push(fault(`${at}.type`, "Must be text, image_url, file or input_audio."));
      return { type: "text", text: "" };
  }
}

/** Names of the API's fields in chat completions. */
export const chatFields: Record<string, string> = {
  image_url: "image_url.url",
  file_data: "file.file_data",
  file_id: "file.file_id",
};

function readCall(
  { id, function: functionCall }: NonNullable<ChatMessage["tool_calls"]>[number],
  path: string,
  faults: Fault[],
): InputCall {
  if (!functionCall) faults.push(fault(`${path}.type`, "Must be function."));
  return { id, name: functionCall?.name ?? "", arguments: objectOf(functionCall?.arguments ?? "") };
}

function settingsOf(body: CreateChatCompletion, faults: Fault[]): Settings {
  const { stop, tool_choice } = body;
  return withoutNullSettings({
    temperature: body.temperature,
    top_p: body.top_p,
    max_output_tokens: body.max_completion_tokens ?? body.max_tokens,
    reasoning_effort: effortOf(body.reasoning_effort, "reasoning_effort", faults),
    parallel_tool_calls: body.parallel_tool_calls,
    tool_choice: choiceOf(tool_choice, nameIn(tool_choice), faults),
    stop: typeof stop === "string" ? [stop] : stop,
    seed: body.seed,
  });
}

const nameIn = (choice: CreateChatCompletion["tool_choice"]): string | null =>
  typeof choice === "object" && choice?.type === "function" ? (choice.function?.name ?? null) : null;
