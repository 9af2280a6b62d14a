import { fieldsOf, isObject } from "../../lib/json.ts";
import { memoize } from "../../lib/memoize.ts";
import { isCacheable } from "./cache-breakpoints.ts";
import type { Connection, ModelRequest } from "./model.ts";
import { splitSystem } from "./stable-prefix.ts";

type Body = Record<string, unknown> & { messages: Record<string, unknown>[] };

/**
 * Adds to a body of chat completions what lets its server cache the prompt. Only servers that document these fields get
 * them, because others refuse fields that they do not know.
 */
export function withChatCache<B extends Body>(
  body: B,
  request: ModelRequest,
  connection: Connection,
  model: string,
): B {
  if (!isCacheable(request)) return body;
  if (isOpenRouter(connection)) return withCacheBreakpoints(body, model, request);
  const key = request.settings.prompt_cache_key;
  return key !== undefined && isOpenAi(connection) ? { ...body, prompt_cache_key: key } : body;
}

/** True if the connection leads to OpenAI itself: gateways may refuse its newer fields. */
export const isOpenAi = ({ provider, base_url }: Pick<Connection, "provider" | "base_url">): boolean =>
  base_url === null ? provider === "openai" : isHost(base_url, "api.openai.com");

const isOpenRouter = ({ name, base_url }: Connection): boolean =>
  base_url === null ? name === "openrouter" : isHost(base_url, "openrouter.ai");

const isHost = (url: string, host: string): boolean => {
  const own = hostnameOf(url);
  return own === host || own.endsWith(`.${host}`);
};

const hostnameOf = memoize((url) => URL.parse(url)?.hostname ?? "");

const mark = { cache_control: { type: "ephemeral" } };

/**
 * Marks the texts up to which OpenRouter lets Anthropic and Gemini cache a prompt: the system prompt and, for Anthropic,
 * the ends of the previous request and of this one. Gemini caches up to one mark only, so it gets the stable one. Other
 * models cache by themselves.
 */
export function withCacheBreakpoints<B extends Body>(
  body: B,
  model: string,
  { settings }: Pick<ModelRequest, "settings">,
): B {
  const family = /(?:^|\/)~?(claude|gemini)|^~?(anthropic)\//.exec(model);
  if (!family) return body;
  const isGemini = family[1] === "gemini";
  const messages = withStableMark(body.messages, settings);
  if (isGemini && messages !== body.messages) return { ...body, messages };
  const system = lastMarkable(messages, messages.length, (role) => role === "system");
  const places = [system];
  if (!isGemini && !settings.is_last_prompt) {
    const answer = messages.findLastIndex(({ role }) => role === "assistant");
    const isTurn = (role: unknown) => role === "user" || role === "tool";
    places.push(lastMarkable(messages, messages.length, isTurn));
    if (answer !== -1) places.push(lastMarkable(messages, answer, isTurn));
  }
  return { ...body, messages: messages.map((message, index) => (places.includes(index) ? marked(message) : message)) };
}

/** Marks the system prompt before its first variable; returns the same messages if it has none. */
function withStableMark(messages: Body["messages"], settings: ModelRequest["settings"]): Body["messages"] {
  const [first, ...rest] = messages;
  const parts =
    first?.role === "system" && typeof first.content === "string" ? splitSystem(first.content, settings) : null;
  if (!parts) return messages;
  const [stable, after] = parts.map((text) => ({ type: "text", text }));
  return [{ ...first, content: [{ ...stable, ...mark }, after] }, ...rest];
}

/** Returns the index of the last message before `end` that can be marked; -1: none. */
const lastMarkable = (messages: Body["messages"], end: number, isRole: (role: unknown) => boolean): number =>
  messages.findLastIndex(({ role, content }, index) => index < end && isRole(role) && hasText(content));

const hasText = (content: unknown): boolean =>
  typeof content === "string" ? content.trim() !== "" : Array.isArray(content) && content.some(isMarkable);

/** An empty text is refused with a mark. */
const isMarkable = (part: unknown): boolean => {
  const { type, text } = fieldsOf(part);
  return isObject(part) && (type !== "text" || (typeof text === "string" && text.trim() !== ""));
};

/** Marks one part of a message, its last. A text without parts becomes one. */
function marked(message: Record<string, unknown>): Record<string, unknown> {
  const { content } = message;
  if (!Array.isArray(content)) return { ...message, content: [{ type: "text", text: content, ...mark }] };
  const last = content.findLastIndex(isMarkable);
  return { ...message, content: content.map((part, index) => (index === last ? { ...part, ...mark } : part)) };
}
