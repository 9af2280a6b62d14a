import { lastItem } from "../lib/collections.ts";
import { byteLength } from "./byte-length.ts";
import { callExpected } from "./error-messages.ts";
import { newId } from "./ids.ts";
import type { ImageFacts, MessageFile } from "./model-call.ts";

/** Roles of messages sent along with a run. There is no system role, because instructions have their own field. */
export const inputRoles = ["user", "assistant", "tool"] as const;
export const messageRoles = ["system", ...inputRoles] as const;
export type MessageRole = (typeof messageRoles)[number];
type InputRole = (typeof inputRoles)[number];

const mediaTypes = ["image", "audio", "file"] as const;
type MediaType = (typeof mediaTypes)[number];

/** An image, a recording or a document: a stored file, its bytes (a `data:` URL or base64), or its address. */
export interface MediaPart {
  type: MediaType;
  file_id?: string;
  data?: string;
  url?: string;
  /** The name of a document that is sent along. */
  filename?: string;
  /** The field of the request that has the content, for errors; absent: `file_id`, `data` or `url`. */
  field?: string;
}
type InputPart = { type: "text"; text: string } | MediaPart;

/** A call of an assistant message that is sent along. */
export interface InputCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export interface InputMessage {
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

/** Content of a message beside its text. */
export interface MessageMedia {
  images?: ImageFacts[];
  audio?: ImageFacts[];
  /** Documents. The run that reads the message gives them to its model. */
  files?: MessageFile[];
}

/** A message in the journal. Its texts are joined as lines; images, recordings and documents follow the text. */
export interface EarlierMessage extends MessageMedia {
  id: string;
  role: InputRole;
  content: string;
  tool_calls?: InputCall[];
  tool_call_id?: string;
  /** Name of the tool. */
  tool?: string;
  is_error?: true;
}

/** Input of a run in the journal: the last text is the input, earlier messages come before it. */
export interface RecordedInput extends MessageMedia {
  input: string;
  /** Present if messages were sent, even a single one. */
  earlier?: EarlierMessage[];
}

/** Returns the file that a part names; `path` is the parameter of the part. */
export type MediaOf = (part: MediaPart, path: string) => MessageFile;

/** A part and its path below the input, such as `[2].content[0]`. */
export interface PlacedPart {
  part: MediaPart;
  path: string;
}

/** Images, recordings and documents of one input. */
export interface ShownMedia {
  /** Fetches the parts that are addresses; undefined if there are none. Call before `of`. */
  fetch(parts: readonly PlacedPart[]): Promise<void> | undefined;
  of: MediaOf;
  /** Creates files for what was sent along or fetched. Call inside the write that creates their run or thread message. */
  keep(of: { run_id: string } | { thread_id: string }): void;
  /** Call after that write. */
  kept(): void;
}

/** Returns the parts of an input that are no text. */
export const placedParts = (given: RunInput): PlacedPart[] =>
  typeof given === "string" ? [] : given.flatMap((message, index) => partsOfMessage(message, `[${index}]`));

export const partsOfMessage = ({ content }: Pick<InputMessage, "content">, path: string): PlacedPart[] =>
  shownIn(content).map(({ part, index }) => ({ part, path: `${path}.content[${index}]` }));

/** Converts an input for the journal. `mediaOf` throws for an unknown file. */
export function toRecordedInput(requestInput: RunInput, mediaOf: MediaOf): RecordedInput {
  if (typeof requestInput === "string") return { input: requestInput };
  const tools = new Map<string, string>();
  const messages = requestInput.map((message, index) => toEarlierMessage(message, `[${index}]`, tools, mediaOf));
  const last = lastItem(messages);
  return { input: last.content, ...mediaOfMessage(last), earlier: messages.slice(0, -1) };
}

/** Returns only the media of a message. */
export const mediaOfMessage = ({ images, audio, files }: MessageMedia): MessageMedia => ({
  ...(images && { images }),
  ...(audio && { audio }),
  ...(files && { files }),
});

/** Converts one message for the journal or a thread. `tools` maps the ids of the calls so far to tool names. */
export function toEarlierMessage(
  { role, content, tool_calls = [], tool_call_id, is_error }: InputMessage,
  path: string,
  tools: Map<string, string>,
  mediaOf: MediaOf,
): EarlierMessage {
  for (const { id, name } of tool_calls) tools.set(id, name);
  return {
    id: newId("message"),
    role,
    content: contentText(content),
    ...recordedMedia(partsOfMessage({ content }, path), mediaOf),
    ...(tool_calls.length > 0 && { tool_calls }),
    ...(tool_call_id !== undefined && { tool_call_id, tool: tools.get(tool_call_id) ?? "" }),
    ...(is_error && { is_error }),
  };
}

/** Returns the files of these parts by kind. */
export function recordedMedia(parts: readonly PlacedPart[], mediaOf: MediaOf): MessageMedia {
  const found = parts.map(({ part, path }) => ({ type: part.type, file: mediaOf(part, path) }));
  const ofType = (type: MediaType) => found.flatMap((one) => (one.type === type ? [one.file] : []));
  const [images, audio, files] = [ofType("image").map(factsOf), ofType("audio").map(factsOf), ofType("file")];
  return {
    ...(images.length > 0 && { images }),
    ...(audio.length > 0 && { audio }),
    ...(files.length > 0 && { files }),
  };
}

const factsOf = ({ file_id, mime_type, sha256 }: MessageFile): ImageFacts => ({ file_id, mime_type, sha256 });

/** Returns the text of a message, without images. */
export const contentText = (content: InputMessage["content"]): string =>
  typeof content === "string"
    ? content
    : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

export const toRequestInput = ({ input, earlier, ...media }: RecordedInput): RunInput =>
  earlier ? [...earlier.map(givenMessage), { role: "user" as const, content: givenContent(input, media) }] : input;

function givenMessage({ role, content, tool_calls, tool_call_id, is_error, ...media }: EarlierMessage): InputMessage {
  return {
    role,
    content: givenContent(content, media),
    ...(tool_calls && { tool_calls }),
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...(is_error && { is_error }),
  };
}

function givenContent(text: string, { images = [], audio = [], files = [] }: MessageMedia): InputMessage["content"] {
  const partsOf = (type: MediaType, of: readonly ImageFacts[]) => of.map(({ file_id }) => ({ type, file_id }));
  const documents = files.map(({ file_id, filename }) => ({ type: "file" as const, file_id, filename }));
  const shown = [...partsOf("image", images), ...partsOf("audio", audio), ...documents];
  if (shown.length === 0) return text;
  return text === "" ? shown : [{ type: "text", text }, ...shown];
}

/** Returns the images, recordings and documents of an input. */
export const mediaIn = ({ earlier = [], ...last }: RecordedInput): ImageFacts[] =>
  [...earlier, last].flatMap(({ images = [], audio = [], files = [] }) => [...images, ...audio, ...files]);

/** Returns the documents of an input. */
export const filesIn = ({ earlier = [], files = [] }: RecordedInput): MessageFile[] => [
  ...earlier.flatMap((message) => message.files ?? []),
  ...files,
];

/** Adds the documents of an input's messages to a run's files. */
export const withFilesOf = (file_ids: readonly string[], input: RecordedInput): string[] => [
  ...new Set([...file_ids, ...filesIn(input).map(({ file_id }) => file_id)]),
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
  const shown = shownIn(content).map(({ part }) => part);
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
  /** Images, recordings and documents together. */
  media: number;
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
  if (bytes > most.bytes) return { path: "", message: `Must have at most ${most.bytes} bytes.` };
  const media = messages.reduce((sum, { content }) => sum + shownIn(content).length, 0);
  return media > most.media ? { path: "", message: `Must have at most ${most.media} images and files.` } : null;
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
  const shown = shownIn(content);
  const isImage = shown.every(({ part }) => part.type === "image");
  if (shown.length > 0 && (role === "assistant" || (role === "tool" && !isImage)))
    return { path: ".content", message: "Only the user shows images and files; a tool shows images." };
  const wrong = shown.find(({ part }) => contentsIn(part) !== 1);
  if (wrong) return { path: `.content[${wrong.index}]`, message: oneContent };
  const isSaid = contentText(content) !== "" || shown.length > 0;
  // A model's answer may be empty, and clients send it back with the rest of the conversation.
  if (!isSaid && role === "user") return { path: ".content", message: "The message says nothing." };
  return null;
}

const onlyTool = "Only the result of a tool has this.";
const oneContent = "Must have exactly one of file_id, data and url.";

const contentsIn = ({ file_id, data, url }: MediaPart): number =>
  [file_id, data, url].filter((content) => content !== undefined).length;

const shownIn = (content: InputMessage["content"]): { part: MediaPart; index: number }[] =>
  typeof content === "string" ? [] : content.flatMap((part, index) => (part.type === "text" ? [] : [{ part, index }]));
