import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelRequest, ModelSettings } from "./model.ts";
import { splitSystem } from "./stable-prefix.ts";

type Options = Pick<LanguageModelV4CallOptions, "prompt" | "tools">;
type Content = Exclude<LanguageModelV4Message, { role: "system" }>["content"];
type Part = Content[number];

/** Place of a block in a prompt. */
interface Place {
  message: number;
  part: number;
}

/** True if the provider may be asked to cache this request's prompt. */
export const isCacheable = ({ settings }: ModelRequest): boolean => settings.prompt_caching === "auto";

/**
 * Puts `mark` on the blocks up to which a provider caches the prompt: the last tool, the system prompt, the end of the
 * previous request and the end of this one. These are four, the most that Anthropic accepts. The third block is the
 * fourth of the previous request, because Anthropic searches only 20 blocks back, and a turn may add more. If the system
 * prompt has variables, its stable beginning is marked in place of the last tool, which stands before it.
 */
export function withBreakpoints<Call extends Options>(
  call: Call,
  { settings }: ModelRequest,
  mark: SharedV4ProviderOptions,
): Call {
  const { tools } = call;
  const stable = markStable(call.prompt, settings, mark);
  const prompt = stable ?? call.prompt;
  const places = settings.is_last_prompt ? [] : conversationPlaces(prompt);
  return {
    ...call,
    prompt: markPlaces(markSystem(prompt, mark), places, mark),
    ...(tools && { tools: stable ? tools : markLastTool(tools, mark) }),
  };
}

const markLastTool = (tools: NonNullable<Options["tools"]>, mark: SharedV4ProviderOptions) =>
  tools.map((tool, index) =>
    index === tools.length - 1 && tool.type === "function" ? { ...tool, providerOptions: merge(tool, mark) } : tool,
  );

/** Puts `mark` on the last system message. One without text is not marked, because Anthropic refuses that. */
export function markSystem(prompt: LanguageModelV4Prompt, mark: SharedV4ProviderOptions): LanguageModelV4Prompt {
  const place = prompt.findLastIndex(({ role, content }) => role === "system" && hasText(content));
  return prompt.map((message, index) =>
    index === place ? { ...message, providerOptions: merge(message, mark) } : message,
  );
}

/**
 * Splits the system prompt before its first variable and puts `mark` on the beginning. Returns null if it has no such
 * beginning.
 */
export function markStable(
  prompt: LanguageModelV4Prompt,
  settings: ModelSettings,
  mark: SharedV4ProviderOptions,
): LanguageModelV4Prompt | null {
  const [first, ...rest] = prompt;
  const parts = first?.role === "system" ? splitSystem(first.content, settings) : null;
  if (first?.role !== "system" || !parts) return null;
  const [stable, after] = parts;
  return [{ ...first, content: stable, providerOptions: merge(first, mark) }, { ...first, content: after }, ...rest];
}

/** Returns the ends of the previous request and of this one. */
function conversationPlaces(prompt: LanguageModelV4Prompt): Place[] {
  const end = lastPlace(prompt, prompt.length);
  const answer = prompt.findLastIndex(({ role }) => role === "assistant");
  const before = answer === -1 ? null : lastPlace(prompt, answer);
  return [before, end].filter((place) => place !== null);
}

/** Returns the last block before this message that can be marked. Depends only on the prompt up to there. */
function lastPlace(prompt: LanguageModelV4Prompt, end: number): Place | null {
  for (let message = end - 1; message >= 0; message--) {
    const { role, content } = prompt[message] as LanguageModelV4Message;
    if (role === "system") return null;
    const part = (content as Part[]).findLastIndex(canBeMarked);
    if (part !== -1) return { message, part };
  }
  return null;
}

/** Anthropic refuses marks on reasoning and on empty texts. */
function canBeMarked(part: Part): boolean {
  if (part.type === "text") return hasText(part.text);
  if (part.type === "tool-result") return "value" in part.output && hasText(part.output.value);
  return part.type === "file" || part.type === "tool-call";
}

const hasText = (value: unknown): boolean => typeof value !== "string" || value.trim() !== "";

function markPlaces(
  prompt: LanguageModelV4Prompt,
  places: readonly Place[],
  mark: SharedV4ProviderOptions,
): LanguageModelV4Prompt {
  return prompt.map((message, index) => {
    const parts = places.flatMap((place) => (place.message === index ? [place.part] : []));
    if (parts.length === 0 || message.role === "system") return message;
    const content = (message.content as Part[]).map((part, at) =>
      parts.includes(at) ? { ...part, providerOptions: merge(part, mark) } : part,
    );
    return { ...message, content } as LanguageModelV4Message;
  });
}

/** Adds options to those of a block, such as the signature of a tool call. */
function merge({ providerOptions = {} }: { providerOptions?: SharedV4ProviderOptions }, mark: SharedV4ProviderOptions) {
  const merged = { ...providerOptions };
  for (const [provider, values] of Object.entries(mark)) merged[provider] = { ...merged[provider], ...values };
  return merged;
}
