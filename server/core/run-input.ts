import { byteLength } from "./byte-length.ts";
import { newId } from "./ids.ts";
import type { ImageFacts } from "./model-call.ts";

/** Whose a message is that comes along with a run. What a system says has a place of its own: the instructions. */
export const inputRoles = ["user", "assistant", "tool"] as const;
type InputRole = (typeof inputRoles)[number];

/** An image of a user's message: a file that is there, or its bytes as a `data:` address. */
interface ImagePart {
  type: "image";
  file_id?: string;
  data?: string;
}
type InputPart = { type: "text"; text: string } | ImagePart;

/** A call that an assistant asked for, in a message that comes along. */
export interface InputCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

interface InputMessage {
  role: InputRole;
  content: string | InputPart[];
  /** Of an assistant. */
  tool_calls?: InputCall[];
  /** Of a tool: the call whose result it is, and whether that went wrong. */
  tool_call_id?: string;
  is_error?: boolean;
}

/** What a run is asked, as clients send and read it: a text, or messages of which the user's is the last. */
export type RunInput = string | InputMessage[];

/** A message as the journal has it. Several texts of one are lines of it; what it shows comes after what it says. */
export interface EarlierMessage {
  id: string;
  role: InputRole;
  content: string;
  images?: ImageFacts[];
  tool_calls?: InputCall[];
  tool_call_id?: string;
  /** Whose result it is, by name. */
  tool?: string;
  is_error?: true;
}

/** The same as the journal has it: the last text is what the run is about, and before it stands what was said earlier. */
export interface Asked {
  input: string;
  /** Of the last message. */
  images?: ImageFacts[];
  /** There where messages were sent, also where there was only one. */
  earlier?: EarlierMessage[];
}

/** What is known of an image that a message shows; `path` is the parameter that names it. */
export type ImageOf = (part: ImagePart, path: string) => ImageFacts;

/** The images of one input. */
export interface ShownImages {
  of: ImageOf;
  /** Within the write of what shows them, a run or a thread: makes files of those that were sent along. */
  keep(of: { run_id: string } | { thread_id: string }): void;
}

/** As the journal has it. `imageOf` throws for an image that is not there. */
export function askedOf(given: RunInput, imageOf: ImageOf): Asked {
  if (typeof given === "string") return { input: given };
  const tools = new Map<string, string>();
  const messages = given.map((message, index) => earlierOf(message, `[${index}]`, tools, imageOf));
  const { content: input, images } = messages.at(-1)!;
  return { input, ...(images && { images }), earlier: messages.slice(0, -1) };
}

/** One message as a journal or a thread keeps it. `tools` are the names of the calls so far, by their ids. */
export function earlierOf(
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

/** What a message says, without what it shows. */
export const contentText = (content: InputMessage["content"]): string =>
  typeof content === "string"
    ? content
    : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

export const givenOf = ({ input, images, earlier }: Asked): RunInput =>
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

/** All images that were shown. */
export const imagesIn = ({ images = [], earlier = [] }: Asked): ImageFacts[] => [
  ...earlier.flatMap((message) => message.images ?? []),
  ...images,
];

/** The same as messages, also where a text was sent. */
export function messagesOf(asked: Asked): InputMessage[] {
  const given = givenOf(asked);
  return typeof given === "string" ? [{ role: "user", content: given }] : given;
}

/** What the run is about: the text, or that of the last message. */
export const lastText = (given: RunInput): string =>
  typeof given === "string" ? given : contentText(given.at(-1)?.content ?? "");

/** The same input with another text in the end. */
export function withLastText(given: RunInput, text: string): RunInput {
  if (typeof given === "string") return text;
  const { content = "" } = given.at(-1) ?? {};
  const shown = typeof content === "string" ? [] : content.filter(({ type }) => type === "image");
  const last = shown.length === 0 ? text : [{ type: "text" as const, text }, ...shown];
  return [...given.slice(0, -1), { role: "user", content: last }];
}

/** All that was said, as one text for whoever reads it at once. */
export const wholeText = (given: RunInput): string =>
  typeof given === "string" || given.length === 1
    ? lastText(given)
    : given.map((message) => `${message.role}: ${messageText(message)}`).join("\n\n");

/** What a message says, and what it asks of tools. */
const messageText = ({ content, tool_calls = [] }: InputMessage): string =>
  [
    contentText(content),
    ...tool_calls.map(({ name, arguments: args }) => `[calls ${name} with ${JSON.stringify(args)}]`),
  ]
    .filter((text) => text !== "")
    .join("\n");

/** What is wrong, and where: below the input, such as `[2].tool_call_id`. */
interface InputFault {
  path: string;
  message: string;
}

interface InputMost {
  bytes: number;
  images: number;
}

/** What is wrong with an input that its shape does not say; null: nothing. */
export function inputFault(given: RunInput, most: InputMost): InputFault | null {
  if (typeof given === "string") return sizeFault([{ role: "user", content: given }], most);
  return sizeFault(given, most) ?? conversationFault(given) ?? lastFault(given);
}

/** The same of a message by itself. */
export const messageFault = (given: InputMessage, most: InputMost): InputFault | null =>
  sizeFault([given], most) ?? ownFault(given);

function sizeFault(messages: readonly InputMessage[], most: InputMost): InputFault | null {
  // The schema counts characters, and a character may have four bytes.
  const bytes = messages.reduce((sum, message) => sum + byteLength(messageText(message)), 0);
  if (bytes > most.bytes) return { path: "", message: `Expected at most ${most.bytes} bytes.` };
  const images = messages.reduce((sum, { content }) => sum + shownIn(content).length, 0);
  return images > most.images ? { path: "", message: `Expected at most ${most.images} images.` } : null;
}

function lastFault(given: readonly InputMessage[]): InputFault | null {
  if (given.at(-1)?.role === "user") return null;
  return { path: `[${given.length - 1}].role`, message: "The last message is what the user says." };
}

/** What is wrong with messages as a conversation: each call has one result, right behind the message that asks for it. */
function conversationFault(given: readonly InputMessage[]): InputFault | null {
  /** Calls without a result so far, each with the place that asks for it. */
  let open = new Map<string, string>();
  for (const [index, message] of given.entries()) {
    const wrong = ownFault(message);
    if (wrong) return { ...wrong, path: `[${index}]${wrong.path}` };
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id!))
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

/** What is wrong with a message by itself. */
function ownFault({ role, content, tool_calls, tool_call_id, is_error }: InputMessage): InputFault | null {
  if (tool_calls && role !== "assistant") return { path: ".tool_calls", message: "Only the assistant asks for calls." };
  if (tool_call_id !== undefined && role !== "tool") return { path: ".tool_call_id", message: onlyTool };
  if (is_error !== undefined && role !== "tool") return { path: ".is_error", message: onlyTool };
  if (tool_call_id === undefined && role === "tool")
    return { path: ".tool_call_id", message: "A result names its call." };
  const images = shownIn(content);
  if (role !== "user" && images.length > 0) return { path: ".content", message: "Only the user shows images." };
  const wrong = images.find(({ part: { file_id, data } }) => (file_id === undefined) === (data === undefined));
  if (wrong) return { path: `.content[${wrong.index}]`, message: "An image has either a file_id or data." };
  const isSaid = contentText(content) !== "" || images.length > 0;
  if (!isSaid && role !== "tool" && !tool_calls) return { path: ".content", message: "The message says nothing." };
  return null;
}

const onlyTool = "Only the result of a tool has this.";

const shownIn = (content: InputMessage["content"]): { part: ImagePart; index: number }[] =>
  typeof content === "string" ? [] : content.flatMap((part, index) => (part.type === "image" ? [{ part, index }] : []));
