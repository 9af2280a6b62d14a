import type { Fault } from "../../domain/errors.ts";
import type { ToolAnswer } from "../../domain/submit.ts";
import { fault } from "../../http/errors.ts";
import { itemOfMessage } from "./item-ids.ts";
import type { InputItem, ItemPart } from "./item-schema.ts";
import { type InputCall, type InputMessage, type InputPart, imageOf, objectOf } from "./request-fields.ts";

/** A parsed input item; `place` is its index. */
export type Entry = { place: number } & (
  | { is: "message"; message: InputMessage }
  | { is: "call"; call: InputCall }
  | { is: "result"; answer: ToolAnswer & { output: string } }
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
      const output = textOf(item.output, `${path}.output`, faults);
      return { is: "result", place, answer: { tool_call_id: item.call_id ?? "", output } };
    }
    case "item_reference":
      if (!item.id) missing("id");
      return item.id?.startsWith("rs_") ? null : { is: "reference", place, id: item.id ?? "" };
    case "reasoning":
      return null;
    default:
      faults.push(fault(`${path}.type`, "Expected message, function_call, function_call_output or item_reference."));
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
      faults.push(fault(`${path}.role`, "Expected one of system, developer, user, assistant."));
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

function partsOf(content: Content, path: string, faults: Fault[]): InputMessage["content"] {
  if (typeof content === "string") return content;
  const parts = (content ?? []).flatMap((part, index) => partOf(part, `${path}[${index}]`, faults));
  return parts.length === 0 ? "" : parts;
}

function partOf({ type, text, image_url, file_id }: ItemPart, path: string, faults: Fault[]): InputPart[] {
  if (texts.has(type)) return text ? [{ type: "text", text }] : [];
  if (type !== "input_image") faults.push(fault(`${path}.type`, "Expected input_text or input_image."));
  if (file_id) return [{ type: "image", file_id }];
  return [imageOf(type === "input_image" ? image_url : "data:", `${path}.image_url`, faults)];
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
      const { tool_call_id, output } = entry.answer;
      push({ role: "tool", content: output, tool_call_id }, entry.place);
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
  tool_calls?: InputCall[] | undefined;
  tool_call_id?: string | undefined;
}

/** Converts a stored message to an input message; returns null if it is empty. */
export function toInputMessage({
  role,
  content,
  images = [],
  tool_calls,
  tool_call_id,
}: ShownMessage): InputMessage | null {
  const imageParts = images.map(({ file_id }): InputPart => ({ type: "image", file_id }));
  const text: InputPart[] = content === "" ? [] : [{ type: "text", text: content }];
  switch (role) {
    case "user":
      return { role, content: imageParts.length === 0 ? content : [...text, ...imageParts] };
    case "assistant":
      return content === "" && !tool_calls ? null : { role, content, ...(tool_calls && { tool_calls }) };
    default:
      return { role: "tool", content, tool_call_id: tool_call_id ?? "" };
  }
}

/** Returns the items of a message, each with an id of its own. */
export function itemsOf({ id, role, content, images = [], tool_calls = [], tool_call_id }: ShownMessage): object[] {
  const status = "completed";
  if (role === "tool")
    return [
      { id: itemOfMessage("fco", id), type: "function_call_output", status, call_id: tool_call_id, output: content },
    ];
  const messageItem = (parts: object[]) => ({
    id: itemOfMessage("msg", id),
    type: "message",
    status,
    role,
    content: parts,
  });
  if (role === "user") {
    const text = content === "" ? [] : [{ type: "input_text", text: content }];
    const shown = images.map(({ file_id }) => ({ type: "input_image", detail: "auto", file_id, image_url: null }));
    return [messageItem([...text, ...shown])];
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
