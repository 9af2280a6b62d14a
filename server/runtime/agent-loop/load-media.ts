import { documentText } from "../../domain/documents-prompt.ts";
import { imageSize } from "../../domain/image-size.ts";
import { limits } from "../../domain/limits.ts";
import type { ModelRequest, PromptDocument, PromptImage, PromptMessage } from "../../domain/model-call.ts";
import { pageImageBounds } from "../documents/bounds.ts";
import type { InputKinds } from "../models/input-kinds.ts";
import { readFile } from "./adapters.ts";
import type { Ask } from "./messages.ts";
import { isNative } from "./suit-documents.ts";

type UserMessage = Extract<PromptMessage, { role: "user" }>;
type ToolMessage = Extract<PromptMessage, { role: "tool" }>;

/** Most bytes of all media in one request: in base64 they fit into the 20 MB that the strictest provider takes. */
const requestBytesMax = 14 * 1024 * 1024;

/** Room for media in a request. Newer messages come first, because they are what the request is about. */
interface Room {
  bytes: number;
  images: number;
  /** Longest side of an image in pixels. */
  side: number;
}

/**
 * Adds the bytes of images, recordings and PDFs, which are neither hashed nor journaled, in the form that the model
 * takes. Text replaces what the model does not take, what was deleted, and what the request has no room for.
 */
export async function loadMedia(request: ModelRequest, takes: InputKinds, ask: Ask): Promise<ModelRequest> {
  if (!request.messages.some(hasMedia)) return request;
  const count = request.messages.reduce((sum, message) => sum + imagesIn(message), 0);
  const isCrowded = takes.crowd !== undefined && count > takes.crowd.images;
  const side = (isCrowded ? takes.crowd?.side_most : takes.side_most) ?? Number.POSITIVE_INFINITY;
  const room: Room = { bytes: requestBytesMax, images: takes.images_most, side };
  const loaded: PromptMessage[] = [];
  for (const message of request.messages.toReversed()) loaded.push(await load(message, takes, room, ask));
  const messages = loaded.reverse();
  return { ...request, messages: takes.tool_images ? messages : withImagesBehind(messages) };
}

const imagesIn = (message: PromptMessage): number =>
  message.role === "user" || message.role === "tool" ? (message.images?.length ?? 0) : 0;

const hasMedia = (message: PromptMessage): boolean =>
  "images" in message || "audio" in message || "documents" in message || "files" in message;

async function load(message: PromptMessage, takes: InputKinds, room: Room, ask: Ask): Promise<PromptMessage> {
  if (message.role === "user" && hasMedia(message)) return loadUser(message, takes, room, ask);
  if (message.role === "tool" && message.images) return loadTool(message, takes, room, ask);
  return message;
}

async function loadUser(
  { files: _, ...message }: UserMessage,
  takes: InputKinds,
  room: Room,
  ask: Ask,
): Promise<UserMessage> {
  const notes: string[] = [];
  const images = await loadImages(message.images ?? [], takes, room, ask, notes);
  const audio: PromptImage[] = [];
  for (const recording of message.audio ?? []) {
    const data = takes.audio ? await bytesOf(recording.file_id, limits.audio_bytes, room, ask) : notHeard;
    if ("bytes" in data) audio.push({ ...recording, data: data.bytes });
    else notes.push(noteOn("recording", recording.file_id, data));
  }
  const documents: PromptDocument[] = [];
  for (const document of message.documents ?? []) {
    const data = isNative(document, takes) ? await bytesOf(document.file_id, requestBytesMax, room, ask) : notRead;
    if ("bytes" in data) {
      documents.push({ ...document, data: data.bytes });
      continue;
    }
    const { shown, note } = await pagesOf(document, takes, room, ask);
    images.push(...shown);
    const text = documentText(document);
    if (text !== null || note === null) notes.push(text ?? noteOn("file", document.file_id, data));
    if (note !== null) notes.push(note);
  }
  const { role, content } = message;
  return {
    role,
    content: withNotes(content, notes),
    ...(images.length > 0 && { images }),
    ...(audio.length > 0 && { audio }),
    ...(documents.length > 0 && { documents }),
  };
}

/** Images of a PDF's first pages, and a note that names them; null if the model is to get none. */
interface ShownPages {
  shown: PromptImage[];
  note: string | null;
}

/** Draws pages for a model that sees images and reads no PDF, as many as the request has room for. */
async function pagesOf(document: PromptDocument, takes: InputKinds, room: Room, ask: Ask): Promise<ShownPages> {
  const { file_id, pages, page_images = Math.min(pages, pageImageBounds.pages), text } = document;
  const isShown = takes.page_images === "all" || (takes.page_images === "without_text" && text === null);
  if (!isShown || takes.pdf) return { shown: [], note: null };
  const count = Math.min(page_images, room.images);
  const drawn = count > 0 ? await ask("page_images", { file_id, count }) : [];
  if (drawn === null) return { shown: [], note: null };
  const numbers: number[] = [];
  const shown: PromptImage[] = [];
  for (const [at, data] of drawn.entries()) {
    const size = ((data?.length ?? 0) * 3) / 4;
    if (data === null || size > room.bytes) continue;
    room.bytes -= size;
    room.images--;
    numbers.push(at + 1);
    shown.push({ file_id, mime_type: "image/jpeg", sha256: document.sha256, data });
  }
  return { shown, note: pagesNote(file_id, numbers, Math.max(pages, drawn.length)) };
}

function pagesNote(file_id: string, numbers: readonly number[], pages: number): string {
  if (numbers.length === 0) return `[No page of ${file_id} is shown as an image.]`;
  const which = `Images of pages of ${file_id} are attached, in this order: ${numbers.join(", ")}.`;
  return numbers.length < pages ? `[${which} Its other pages are not shown.]` : `[${which}]`;
}

async function loadTool(message: ToolMessage, takes: InputKinds, room: Room, ask: Ask): Promise<ToolMessage> {
  const notes: string[] = [];
  const images = await loadImages(message.images ?? [], takes, room, ask, notes);
  const { images: _, ...text } = message;
  return { ...text, output: withNotes(message.output, notes), ...(images.length > 0 && { images }) };
}

const withNotes = (text: string, notes: readonly string[]): string =>
  [...(text === "" && notes.length > 0 ? [] : [text]), ...notes].join("\n\n");

/** Adds the bytes of images; notes say what is missing. */
async function loadImages(
  images: readonly PromptImage[],
  takes: InputKinds,
  room: Room,
  ask: Ask,
  notes: string[],
): Promise<PromptImage[]> {
  const loaded: PromptImage[] = [];
  for (const image of images) {
    const data = await imageBytes(image, takes, room, ask);
    if ("bytes" in data) loaded.push({ ...image, data: data.bytes });
    else notes.push(noteOn("image", image.file_id, data));
  }
  return loaded;
}

async function imageBytes({ file_id }: PromptImage, takes: InputKinds, room: Room, ask: Ask): Promise<Bytes> {
  if (!takes.images) return notSeen;
  if (room.images < 1) return noRoom;
  const data = await bytesOf(file_id, limits.image_bytes, room, ask);
  if (!("bytes" in data)) return data;
  // Providers refuse the whole request for one such image, and so every later turn.
  const { width = 0, height = 0 } = imageSize(Uint8Array.fromBase64(data.bytes)) ?? {};
  if (Math.max(width, height) > room.side)
    return { missing: `is left out: it has ${width} × ${height} pixels, and a side may have ${room.side} here` };
  room.images--;
  return data;
}

type Bytes = { bytes: string } | { missing: string };

const notSeen: Bytes = { missing: "cannot be seen by this model" };
const notHeard: Bytes = { missing: "cannot be heard by this model" };
const notRead: Bytes = { missing: "has no text that this model could read" };
const noRoom: Bytes = { missing: "is left out, because the request has no room for it" };

const noteOn = (noun: string, id: string, data: Bytes): string =>
  `[The ${noun} ${id} ${"missing" in data ? data.missing : ""}]`;

async function bytesOf(file_id: string, most: number, room: Room, ask: Ask): Promise<Bytes> {
  const file = await readFile(file_id, Math.min(most, room.bytes), ask);
  if (file === "missing") return { missing: "was deleted meanwhile" };
  if (file === "too_large") return noRoom;
  room.bytes -= file.bytes.length;
  return { bytes: file.bytes.toBase64() };
}

/**
 * Moves images of results into a message of the user behind the results of the same answer, which providers want
 * together.
 */
function withImagesBehind(messages: readonly PromptMessage[]): PromptMessage[] {
  const moved: PromptMessage[] = [];
  let waiting: { message: ToolMessage; images: PromptImage[] }[] = [];
  const flush = () => {
    if (waiting.length > 0) moved.push(imagesMessage(waiting));
    waiting = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") flush();
    if (message.role !== "tool" || !message.images) {
      moved.push(message);
      continue;
    }
    const { images, ...text } = message;
    moved.push(text);
    waiting.push({ message: text, images });
  }
  flush();
  return moved;
}

function imagesMessage(results: readonly { message: ToolMessage; images: PromptImage[] }[]): UserMessage {
  const counted = results.map(({ message: { tool }, images }) => `${images.length} of ${tool}`).join(", ");
  return {
    role: "user",
    content: `[Images of the results above, in order: ${counted}. They come from the tools, not from the user.]`,
    images: results.flatMap(({ images }) => images),
  };
}
