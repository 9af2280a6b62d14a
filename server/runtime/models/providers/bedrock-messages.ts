import { createHash } from "node:crypto";
import { toInput } from "../call-options.ts";
import type { AssistantPart, PromptDocument, PromptImage, PromptMessage } from "../model.ts";
import { mendName } from "../tool-names.ts";
import type { Family } from "./bedrock-families.ts";

export type Block = Record<string, unknown>;
export interface Message {
  role: "user" | "assistant";
  content: Block[];
}

type ToolMessage = Extract<PromptMessage, { role: "tool" }>;
type UserMessage = Extract<PromptMessage, { role: "user" }>;

/** Proof of a part of reasoning, under Bedrock's name in the part's metadata. */
export interface ReasoningProof {
  /** Family of the model that signed: others refuse it. */
  family: string;
  signature?: string;
  /** Encrypted reasoning, in base64. */
  redacted?: string;
}

/**
 * Converts a conversation. Turns of one role become one message, because roles must alternate. Without `hasTools`, calls
 * and their results become text: Bedrock refuses them in a request that offers no tools.
 */
export function toMessages(prompt: readonly PromptMessage[], family: Family, hasTools: boolean): Message[] {
  const messages: Message[] = [];
  const add = (role: Message["role"], content: Block[]) => {
    const last = messages.at(-1);
    if (content.length === 0) return;
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  };
  const nameOf = documentNames();
  for (const message of prompt) {
    if (message.role === "user") add("user", toUserBlocks(message, nameOf));
    else if (message.role === "tool") add("user", hasTools ? [toResult(message, family)] : resultBlocks(message));
    else if (message.role === "assistant") add("assistant", toAssistantBlocks(message.parts, family, hasTools));
  }
  // A conversation may begin with a greeting of the assistant.
  if (messages[0]?.role === "assistant") messages.unshift({ role: "user", content: [{ text: "(start)" }] });
  return messages;
}

/** Returns the system prompts; blank texts are refused. */
export const toSystem = (prompt: readonly PromptMessage[]): Block[] =>
  prompt.flatMap((message) =>
    message.role === "system" && !isBlank(message.content) ? [{ text: message.content }] : [],
  );

/** A document needs a text beside it. */
function toUserBlocks({ content, images = [], documents = [] }: UserMessage, nameOf: DocumentNames): Block[] {
  const isPicture = images.length > 0 && documents.length === 0;
  const text = isBlank(content) ? (isPicture ? [] : [{ text: "(empty)" }]) : [{ text: content }];
  return [...text, ...images.map(toImage), ...documents.map((document) => toDocument(document, nameOf))];
}

const toDocument = ({ filename, data = "" }: PromptDocument, nameOf: DocumentNames): Block => ({
  document: { format: "pdf", name: nameOf(filename), source: { bytes: data } },
});

type DocumentNames = (filename: string) => string;

// The API takes 200 characters; a number may follow.
const documentNameMax = 190;

/** Returns a function that names documents: the API takes few characters, and each name only once in a request. */
function documentNames(): DocumentNames {
  const counts = new Map<string, number>();
  return (filename) => {
    const plain = filename.replace(/\.pdf$/i, "").replace(/[^a-zA-Z0-9()[\]-]+/g, " ");
    const name = plain.trim().slice(0, documentNameMax).trim() || "document";
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : nextFree(name, count);
  };

  function nextFree(name: string, count: number): string {
    const numbered = `${name} (${count})`;
    if (counts.has(numbered)) return nextFree(name, count + 1);
    counts.set(numbered, 1);
    return numbered;
  }
}

const toImage = ({ mime_type, data = "" }: PromptImage): Block => ({
  image: { format: mime_type.replace(/^image\//, "").replace("jpg", "jpeg"), source: { bytes: data } },
});

const toResult = ({ call_id, output, is_error, images = [] }: ToolMessage, family: Family): Block => ({
  toolResult: {
    toolUseId: toCallId(call_id, family),
    content: [{ text: isBlank(output) ? "(empty)" : output }, ...images.map(toImage)],
    ...(is_error && family.takesStatus && { status: "error" }),
  },
});

const resultBlocks = ({ tool, output, images = [] }: ToolMessage): Block[] => [
  { text: `Result of the tool ${tool}: ${output}` },
  ...images.map(toImage),
];

function toAssistantBlocks(parts: readonly AssistantPart[], family: Family, hasTools: boolean): Block[] {
  return parts.flatMap((part): Block[] => {
    if (part.type === "text") return isBlank(part.text) ? [] : [{ text: part.text }];
    if (part.type === "reasoning") return hasTools || !parts.some(isCall) ? toReasoning(part, family) : [];
    if (!hasTools) return [{ text: `Call of the tool ${part.name}: ${part.arguments}` }];
    const toolUseId = toCallId(part.id, family);
    return [{ toolUse: { toolUseId, name: mendName(part.name), input: toInput(part.arguments) } }];
  });
}

const isCall = ({ type }: AssistantPart): boolean => type === "tool_call";

/** Returns only reasoning that the same family has signed: other reasoning is refused, or shows up in the answer. */
function toReasoning({ text, metadata }: { text: string; metadata?: unknown }, family: Family): Block[] {
  const { bedrock } = Object(metadata) as { bedrock?: ReasoningProof };
  if (bedrock?.family !== family.name) return [];
  const { signature, redacted } = bedrock;
  if (redacted !== undefined) return [{ reasoningContent: { redactedContent: redacted } }];
  return signature === undefined ? [] : [{ reasoningContent: { reasoningText: { text, signature } } }];
}

/** Returns an id that the API takes; Mistral's models take nine letters and digits. */
function toCallId(id: string, family: Family): string {
  if (family.name === "mistral") return /^[a-zA-Z0-9]{9}$/.test(id) ? id : digestOf(id).slice(0, 9);
  return /^[\w-]{1,64}$/.test(id) ? id : `call_${digestOf(id)}`;
}

const digestOf = (id: string): string =>
  BigInt(`0x${createHash("sha256").update(id).digest("hex")}`)
    .toString(36)
    .slice(-24)
    .padStart(24, "0");

const isBlank = (text: string): boolean => text.trim() === "";
