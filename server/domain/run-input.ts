import { lastItem } from "../lib/collections.ts";
import { byteLength } from "./byte-length.ts";
import { callExpected } from "./error-messages.ts";
import { newId } from "./ids.ts";
import type { ImageFacts } from "./model-call.ts";

/** Roles of messages sent along with a run. There is no system role, because instructions have their own field. */
export const inputRoles = ["user", "assistant", "tool"] as const;
export const messageRoles = ["system", ...inputRoles] as const;
export type MessageRole = (typeof messageRoles)[number];
type InputRole = (typeof inputRoles)[number];

/** An image of a user message: a stored file, or its bytes as a `data:` URL. */
interface ImagePart {
  type: "image";
  file_id?: string;
  data?: string;
}
type InputPart = { type: "text"; text: string } | ImagePart;

/** A call of an assistant message that is sent along. */
export interface InputCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

interface InputMessage {
  role: InputRole;
  content: string | InputPart[];
  /** For assistant messages. */
  tool_calls?: InputCall[];
  /** For tool messages: the call, and whether it failed. */
  tool_call_id?: string;
  is_error?: boolean;
}

/** Input of a run, as clients send and read it: a text, or messages that end with a user message. */
export type RunInput = string | InputMessage[];

/** A message in the journal. Its texts are joined as lines; images follow the text. */
export interface EarlierMessage {
  id: string;
  role: InputRole;
  content: string;
  images?: ImageFacts[];
  tool_calls?: InputCall[];
  tool_call_id?: string;
  /** Name of the tool. */
  tool?: string;
  is_error?: true;
}

/** Input of a run in the journal: the last text is the input, earlier messages come before it. */
export interface RecordedInput {
  input: string;
  /** Images of the last message. */
  images?: ImageFacts[];
  /** Present if messages were sent, even a single one. */
  earlier?: EarlierMessage[];
}

/** Returns the facts of a message's image; `path` is the parameter that names it. */
export type ImageOf = (part: ImagePart, path: string) => ImageFacts;

/** Images of one input. */
export interface ShownImages {
  of: ImageOf;
  /** Creates files for images that were sent along. Call inside the write that creates their run or thread message. */
  keep(of: { run_id: string } | { thread_id: string }): void;
}

/** Converts an input for the journal. `imageOf` throws for an unknown image. */
export function toRecordedInput(requestInput: RunInput, imageOf: ImageOf): RecordedInput {
  if (typeof requestInput === "string") return { input: requestInput };
  const tools = new Map<string, string>();
  const messages = requestInput.map((message, index) => toEarlierMessage(message, `[${index}]`, tools, imageOf));
  const { content: input, images } = lastItem(messages);
  return { input, ...(images && { images }), earlier: messages.slice(0, -1) };
}

/** Converts one message for the journal or a thread. `tools` maps the ids of the calls so far to tool names. */
export function toEarlierMessage(
  { role, content, tool_calls = [], tool_call_id, is_error }: InputMessage,
  path: string,
  tools: Map<string, string>,
  imageOf: ImageOf,
): EarlierMessage {
  for (const { id, name } of tool_calls) tools.set(id, name);
  const parts = typeof content === "string" ? [] : content;
  const images = parts.flatMap((part, index) =>
    part.type === "image" ? [imageOf(part, `${path}.content[${index}]`)] : [],
  );
  return {
    id: newId("message"),
    role,
    content: contentText(content),
    ...(images.length > 0 && { images }),
    ...(tool_calls.length > 0 && { tool_calls }),
    ...(tool_call_id !== undefined && { tool_call_id, tool: tools.get(tool_call_id) ?? "" }),
    ...(is_error && { is_error }),
  };
}

/** Returns the text of a message, without images. */
export const contentText = (content: InputMessage["content"]): string =>
  typeof content === "string"
    ? content
    : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

export const toRequestInput = ({ input, images, earlier }: RecordedInput): RunInput =>
  earlier ? [...earlier.map(givenMessage), { role: "user" as const, content: givenContent(input, images) }] : input;

function givenMessage({ role, content, images, tool_calls, tool_call_id, is_error }: EarlierMessage): InputMessage {
  return {
    role,
    content: givenContent(content, images),
    ...(tool_calls && { tool_calls }),
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...(is_error && { is_error }),
  };
}

function givenContent(text: string, images: readonly ImageFacts[] = []): InputMessage["content"] {
  if (images.length === 0) return text;
  const shown = images.map(({ file_id }) => ({ type: "image" as const, file_id }));
  return text === "" ? shown : [{ type: "text", text }, ...shown];
}

/** Returns all images of an input. */
export const imagesIn = ({ images = [], earlier = [] }: RecordedInput): ImageFacts[] => [
  ...earlier.flatMap((message) => message.images ?? []),
  ...images,
];

/** Returns the input as messages, also if it is a text. */
export function messagesOf(asked: RecordedInput): InputMessage[] {
  const given = toRequestInput(asked);
  return typeof given === "string" ? [{ role: "user", content: given }] : given;
}

/** Returns the input text: the text itself, or that of the last message. */
export const lastText = (given: RunInput): string =>
  typeof given === "string" ? given : contentText(given.at(-1)?.content ?? "");

/** Replaces the last text of an input. */
export function withLastText(given: RunInput, text: string): RunInput {
  if (typeof given === "string") return text;
  const { content = "" } = given.at(-1) ?? {};
  const shown = typeof content === "string" ? [] : content.filter(({ type }) => type === "image");
  const last = shown.length === 0 ? text : [{ type: "text" as const, text }, ...shown];
  return [...given.slice(0, -1), { role: "user", content: last }];
}

/** Joins all messages into one text. */
export const wholeText = (given: RunInput): string =>
  typeof given === "string" || given.length === 1
    ? lastText(given)
    : given.map((message) => `${message.role}: ${messageText(message)}`).join("\n\n");

/** Returns the text and the calls of a message. */
const messageText = ({ content, tool_calls = [] }: InputMessage): string =>
  [
    contentText(content),
    ...tool_calls.map(({ name, arguments: args }) => `[calls ${name} with ${JSON.stringify(args)}]`),
  ]
    .filter((text) => text !== "")
    .join("\n");

/** A fault and its path below the input, such as `[2].tool_call_id`. */
interface InputFault {
  path: string;
  message: string;
}

interface InputMost {
  bytes: number;
  images: number;
}

/** Returns a fault of the input that its schema cannot express, or null. */
export function inputFault(given: RunInput, most: InputMost): InputFault | null {
  if (typeof given === "string") return sizeFault([{ role: "user", content: given }], most);
  return sizeFault(given, most) ?? conversationFault(given) ?? lastFault(given);
}

/** Returns a fault of a single message, or null. */
export const messageFault = (given: InputMessage, most: InputMost): InputFault | null =>
  sizeFault([given], most) ?? ownFault(given);

function sizeFault(messages: readonly InputMessage[], most: InputMost): InputFault | null {
  // The schema counts characters, which can have four bytes.
  const bytes = messages.reduce((sum, message) => sum + byteLength(messageText(message)), 0);
  if (bytes > most.bytes) return { path: "", message: `Expected at most ${most.bytes} bytes.` };
  const images = messages.reduce((sum, { content }) => sum + shownIn(content).length, 0);
  return images > most.images ? { path: "", message: `Expected at most ${most.images} images.` } : null;
}

function lastFault(given: readonly InputMessage[]): InputFault | null {
  if (given.at(-1)?.role === "user") return null;
  return { path: `[${given.length - 1}].role`, message: "The last message is what the user says." };
}

/** Checks the order of messages: each call has one result, right after the message that requests it. */
function conversationFault(given: readonly InputMessage[]): InputFault | null {
  /** Calls without a result so far, with the path of each. */
  let open = new Map<string, string>();
  for (const [index, message] of given.entries()) {
    const wrong = ownFault(message);
    if (wrong) return { ...wrong, path: `[${index}]${wrong.path}` };
    if (message.role === "tool") {
      if (message.tool_call_id === undefined || !open.delete(message.tool_call_id))
        return {
          path: `[${index}].tool_call_id`,
          message: "No message of the assistant right before it asks for this call, or the call has a result already.",
        };
      continue;
    }
    const [unanswered] = open.values();
    if (unanswered !== undefined) return { path: unanswered, message: noResult };
    open = new Map();
    for (const [place, { id }] of (message.tool_calls ?? []).entries()) {
      const path = `[${index}].tool_calls[${place}]`;
      if (open.has(id)) return { path: `${path}.id`, message: "Two calls have this id." };
      open.set(id, path);
    }
  }
  const [unanswered] = open.values();
  return unanswered === undefined ? null : { path: unanswered, message: noResult };
}

const noResult = "The call has no result: a message of the role tool has to follow.";

/** Returns a fault of a message regardless of the others, or null. */
function ownFault({ role, content, tool_calls, tool_call_id, is_error }: InputMessage): InputFault | null {
  if (tool_calls && role !== "assistant") return { path: ".tool_calls", message: "Only the assistant asks for calls." };
  if (tool_call_id !== undefined && role !== "tool") return { path: ".tool_call_id", message: onlyTool };
  if (is_error !== undefined && role !== "tool") return { path: ".is_error", message: onlyTool };
  if (tool_call_id === undefined && role === "tool") return { path: ".tool_call_id", message: callExpected };
  const images = shownIn(content);
  if (role !== "user" && images.length > 0) return { path: ".content", message: "Only the user shows images." };
  const wrong = images.find(({ part: { file_id, data } }) => (file_id === undefined) === (data === undefined));
  if (wrong) return { path: `.content[${wrong.index}]`, message: "An image has either a file_id or data." };
  const isSaid = contentText(content) !== "" || images.length > 0;
  // A model's answer may be empty, and clients send it back with the rest of the conversation.
  if (!isSaid && role === "user") return { path: ".content", message: "The message says nothing." };
  return null;
}

const onlyTool = "Only the result of a tool has this.";

const shownIn = (content: InputMessage["content"]): { part: ImagePart; index: number }[] =>
  typeof content === "string" ? [] : content.flatMap((part, index) => (part.type === "image" ? [{ part, index }] : []));
