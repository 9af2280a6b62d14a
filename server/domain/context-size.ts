import type { AgentSnapshot } from "./agent-snapshot.ts";
import { byteLength } from "./byte-length.ts";
import type { ModelRequest, PromptDocument, PromptMessage } from "./model-call.ts";

// Prose has about four bytes per token, JSON and code about three, Chinese three per character, which is one token.
// Texts with fewer bytes per token are detected when the provider refuses them.
const bytesPerToken = 3;
/** Highest cost of an image in well-known models, except gpt-4o-mini, which counts images in smaller tokens. */
const imageTokens = 4000;
/** Cost of a page of a PDF as models see it, as a picture and as text, and of a recording. */
export const pageTokens = 2000;
const recordingTokens = 8000;
// Overhead of each message.
export const messageTokens = 8;

const sizeOf = (value: unknown): number => Math.ceil(byteLength(JSON.stringify(value)) / bytesPerToken);

/** Estimated tokens of a message: by its bytes, and its media. */
export const messageSize = (message: PromptMessage): number =>
  messageTokens + sizeOf(withoutNativeText(message)) + mediaTokens(message);

/** Removes the texts of PDFs, which are sent only to models that do not read PDFs. */
export const withoutNativeText = (message: PromptMessage): PromptMessage =>
  message.role === "user" && message.documents
    ? { ...message, documents: message.documents.map((document) => ({ ...document, text: null })) }
    : message;

/** Estimated tokens of a message's images, recordings and pages of PDFs. */
export function mediaTokens(message: PromptMessage): number {
  if (message.role !== "user" && message.role !== "tool") return 0;
  const images = imageTokens * (message.images?.length ?? 0);
  if (message.role === "tool") return images;
  const { audio = [], documents = [] } = message;
  return images + recordingTokens * audio.length + documents.reduce((sum, each) => sum + documentTokens(each), 0);
}

/** A model that sees pages as images gets the text too. */
const documentTokens = ({ pages, page_images, text }: PromptDocument): number =>
  page_images === undefined ? Math.max(pageTokens * pages, sizeOf(text)) : pageTokens * page_images + sizeOf(text);

/** Estimated tokens of a prompt. Never change this: recovery and replays depend on it. */
export const promptSize = ({ messages, tools, output_schema }: ModelRequest): number =>
  messages.reduce((sum, message) => sum + messageSize(message), 0) +
  (tools.length > 0 ? sizeOf(tools) : 0) +
  (output_schema ? sizeOf(output_schema) : 0);

/** Maximal tokens of a prompt: the window without the reserve for the answer, which is at most half of it. */
export function promptRoom(window: number, agent: Pick<AgentSnapshot, "memory" | "settings">): number {
  const reserve = Math.max(agent.memory?.context.reserve_output_tokens ?? 0, agent.settings.max_output_tokens ?? 0);
  return window - Math.min(reserve, Math.floor(window / 2));
}

/** Bytes of text that are at most this many estimated tokens. */
export const bytesFor = (tokens: number): number => tokens * bytesPerToken;
