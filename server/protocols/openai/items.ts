import type { Fault } from "../../domain/errors.ts";
import { fault } from "../../http/errors.ts";
import { itemOfMessage } from "./item-ids.ts";
import type { InputItem, ItemPart } from "./item-schema.ts";
import {
  audioOf,
  fileOf,
  type InputCall,
  type InputMessage,
  type InputPart,
  imageOf,
  objectOf,
  resultOf,
  storedImageOf,
} from "./request-fields.ts";
import type { SentResult } from "./results.ts";

/** A parsed input item; `place` is its index. */
export type Entry = { place: number } & (
  | { is: "message"; message: InputMessage }
  | { is: "call"; call: InputCall }
  | { is: "result"; answer: SentResult; content: InputMessage["content"] }
  /** A system or developer message. */
  | { is: "instruction"; text: string }
  /** An item of an earlier response. */
  | { is: "reference"; id: string }
);

/** Parses items. Omits reasoning, because it is not sent to models again. */
export const readItems = (items: readonly InputItem[], param: string, faults: Fault[]): Entry[] =>
  items.flatMap((item, place) => {
    const entry = readItem(item, place, `${param}[${place}]`, faults);
    return entry ? [entry] : [];
  });

function readItem(item: InputItem, place: number, path: string, faults: Fault[]): Entry | null {
  const missing = (name: string) => faults.push(fault(`${path}.${name}`, "This is missing.", "required"));
  switch (item.type ?? "message") {
    case "message":
      return readMessage(item, place, path, faults);
    case "function_call": {
      const { call_id, name, arguments: args } = item;
      if (!call_id) missing("call_id");
      if (!name) missing("name");
      return { is: "call", place, call: { id: call_id ?? "", name: name ?? "", arguments: objectOf(args ?? "") } };
    }
    case "function_call_output": {
      if (!item.call_id) missing("call_id");
      const content = outputOf(item.output, `${path}.output`, faults);
      return { is: "result", place, answer: { tool_call_id: item.call_id ?? "", ...resultOf(content) }, content };
    }
    case "item_reference":
      if (!item.id) missing("id");
      return item.id?.startsWith("rs_") ? null : { is: "reference", place, id: item.id ?? "" };
    case "reasoning":
      return null;
    default:
      faults.push(fault(`${path}.type`, "Must be message, function_call, function_call_output or item_reference."));
      return null;
  }
}

function readMessage({ role, content }: InputItem, place: number, path: string, faults: Fault[]): Entry | null {
  const text = () => textOf(content, `${path}.content`, faults);
  switch (role) {
    case "system":
    case "developer":
      return { is: "instruction", place, text: text() };
    case "assistant":
      return { is: "message", place, message: { role, content: text() } };
    case "user":
      return { is: "message", place, message: { role, content: partsOf(content, `${path}.content`, faults) } };
    default:
      faults.push(fault(`${path}.role`, "Must be one of system, developer, user, assistant."));
      return null;
  }
}

type Content = string | ItemPart[] | null | undefined;

const texts = new Set(["input_text", "output_text", "text", "refusal"]);

const textOf = (content: Content, path: string, faults: Fault[]): string =>
  typeof content === "string"
    ? content
    : (content ?? [])
        .map(({ type, text, refusal }, index) => {
          if (!texts.has(type)) faults.push(fault(`${path}[${index}].type`, "Only the user shows more than text."));
          return text ?? refusal ?? "";
        })
        .join("\n");

/** Returns the content of a result: text, or text and images. */
const outputOf = (content: Content, path: string, faults: Fault[]): InputMessage["content"] =>
  typeof content === "object" && content?.some(({ type }) => type === "input_image")
    ? partsOf(content, path, faults)
    : textOf(content, path, faults);

function partsOf(content: Content, path: string, faults: Fault[]): InputMessage["content"] {
  if (typeof content === "string") return content;
  const parts = (content ?? []).flatMap((part, index) => partOf(part, `${path}[${index}]`, faults));
  return parts.length === 0 ? "" : parts;
}

function partOf(part: ItemPart, path: string, faults: Fault[]): InputPart[] {
  const { type, text, image_url, file_id, input_audio } = part;
  if (texts.has(type)) return text ? [{ type: "text", text }] : [];
  switch (type) {
    case "input_image":
      return [file_id ? storedImageOf(file_id, path, faults) : imageOf(image_url, `${path}.image_url`, faults)];
    case "input_file":
      return [fileOf(part, path, faults)];
    case "input_audio":
      return [audioOf(input_audio, `${path}.input_audio`, faults)];
    default:
      faults.push(fault(`${path}.type`, "Must be input_text, input_image, input_file or input_audio."));
      return [];
  }
}

export interface Conversation {
  messages: InputMessage[];
  /** Index of each in the request; null if it came from an earlier response. */
  places: (number | null)[];
}

/** Appends items to these messages. Calls become part of the assistant message that makes them. */
export function conversationOf(before: readonly InputMessage[], entries: readonly Entry[]): Conversation {
  const messages = [...before];
  const places: (number | null)[] = before.map(() => null);
  const push = (message: InputMessage, place: number) => {
    messages.push(message);
    places.push(place);
  };
  for (const entry of entries) {
    const last = messages.at(-1);
    if (entry.is === "call") {
      const { call, place } = entry;
      if (last?.role === "assistant")
        messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] };
      else push({ role: "assistant", content: "", tool_calls: [call] }, place);
    } else if (entry.is === "result") {
      const { tool_call_id } = entry.answer;
      push({ role: "tool", content: entry.content, tool_call_id }, entry.place);
    } else if (entry.is === "message") {
      const { message, place } = entry;
      // Results must follow their calls directly, so add the text to the message with the calls.
      if (message.role === "assistant" && last?.role === "assistant" && last.tool_calls)
        messages[messages.length - 1] = { ...last, content: joinContent(last.content, message.content) };
      else push(message, place);
    }
  }
  return { messages, places };
}

const joinContent = (one: InputMessage["content"], other: InputMessage["content"]): string =>
  [one, other].filter((text) => text !== "").join("\n\n");

/** A message of a run or a thread, as the API returns it. */
export interface ShownMessage {
  id: string;
  role: string;
  content: string;
  images?: { file_id: string }[] | undefined;
  audio?: { file_id: string }[] | undefined;
  files?: { file_id: string; filename: string }[] | undefined;
  tool_calls?: InputCall[] | undefined;
  tool_call_id?: string | undefined;
}

/** Converts a stored message to an input message; returns null if it is empty. */
export function toInputMessage({
  role,
  content,
  images = [],
  audio = [],
  files = [],
  tool_calls,
  tool_call_id,
}: ShownMessage): InputMessage | null {
  const shown = [
    ...images.map(({ file_id }): InputPart => ({ type: "image", file_id })),
    ...audio.map(({ file_id }): InputPart => ({ type: "audio", file_id })),
    ...files.map(({ file_id }): InputPart => ({ type: "file", file_id })),
  ];
  const text: InputPart[] = content === "" ? [] : [{ type: "text", text: content }];
  const whole = shown.length === 0 ? content : [...text, ...shown];
  switch (role) {
    case "user":
      return { role, content: whole };
    case "assistant":
      return content === "" && !tool_calls ? null : { role, content, ...(tool_calls && { tool_calls }) };
    default:
      return { role: "tool", content: whole, tool_call_id: tool_call_id ?? "" };
  }
}

/** Returns the items of a message, each with an id of its own. */
export function itemsOf(message: ShownMessage): object[] {
  const { id, role, content, images = [], files = [], tool_calls = [], tool_call_id } = message;
  const status = "completed";
  const text = content === "" ? [] : [{ type: "input_text", text: content }];
  const shown = images.map(({ file_id }) => ({ type: "input_image", detail: "auto", file_id, image_url: null }));
  if (role === "tool") {
    const output = shown.length === 0 ? content : [...text, ...shown];
    return [{ id: itemOfMessage("fco", id), type: "function_call_output", status, call_id: tool_call_id, output }];
  }
  const messageItem = (parts: object[]) => ({
    id: itemOfMessage("msg", id),
    type: "message",
    status,
    role,
    content: parts,
  });
  if (role === "user") {
    const documents = files.map(({ file_id, filename }) => ({ type: "input_file", file_id, filename }));
    return [messageItem([...text, ...shown, ...documents])];
  }
  const calls = tool_calls.map(({ id: call_id, name, arguments: args }, place) => ({
    id: itemOfMessage("fc", id, place),
    type: "function_call",
    status,
    call_id,
    name,
    arguments: JSON.stringify(args),
  }));
  return content === "" && calls.length > 0 ? calls : [messageItem([outputText(content)]), ...calls];
}

export const outputText = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
