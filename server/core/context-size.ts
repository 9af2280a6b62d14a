import type { AgentSnapshot } from "./agent-snapshot.ts";
import { byteLength } from "./byte-length.ts";
import type { ModelRequest, PromptMessage } from "./model-call.ts";

// Prose has about four bytes for a token, JSON and code about three, Chinese three for a character that is one. What is
// cut up smaller is found out by the provider's refusal.
const bytesPerToken = 3;
/** The most that well-known models take an image for, but for gpt-4o-mini, which counts its images in small tokens. */
export const imageTokens = 4000;
// Each message has a frame of its own.
export const messageTokens = 8;

const sizeOf = (value: unknown): number => Math.ceil(byteLength(JSON.stringify(value)) / bytesPerToken);

/** Tokens of a message as counted here: by its bytes, and its images. */
export const messageSize = (message: PromptMessage): number =>
  messageTokens + sizeOf(message) + imageTokens * imagesIn(message);

const imagesIn = (message: PromptMessage): number => (message.role === "user" ? (message.images?.length ?? 0) : 0);

/** Tokens of a prompt as counted here, the same for ever. */
export const promptSize = ({ messages, tools, output_schema }: ModelRequest): number =>
  messages.reduce((sum, message) => sum + messageSize(message), 0) +
  (tools.length > 0 ? sizeOf(tools) : 0) +
  (output_schema ? sizeOf(output_schema) : 0);

/** Tokens that a prompt may have beside the room kept for the answer: never more than half the window. */
export function promptRoom(window: number, agent: Pick<AgentSnapshot, "memory" | "settings">): number {
  const reserve = Math.max(agent.memory?.context.reserve_output_tokens ?? 0, agent.settings.max_output_tokens ?? 0);
  return window - Math.min(reserve, Math.floor(window / 2));
}

/** Bytes of text that are surely no more than so many tokens, as counted here. */
export const bytesFor = (tokens: number): number => tokens * bytesPerToken;
