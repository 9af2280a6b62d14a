import { sha256 } from "../lib/hash.ts";

/** Answer of the model: a text, and tool calls. */
export interface CacheAnswer {
  text?: string;
  /** Signed thinking before the answer. */
  thinking?: string;
  calls?: { name: string; input: unknown }[];
}

interface Body {
  model: string;
  system?: Block[];
  tools?: Block[];
  tool_choice?: unknown;
  thinking?: unknown;
  messages: { role: string; content: Block[] }[];
}
type Block = Record<string, unknown> & { cache_control?: { type: string; ttl?: string } };

/** Usage of a request as Anthropic reports it. */
export interface CacheUsage {
  input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
}

const lookback = 20;
const marksMax = 4;
const ttl_ms = 5 * 60_000;
/** Shorter prompts are not cached. */
const leastOf = (model: string): number => (/opus-4-[5-9]|haiku-4-5/.test(model) ? 4096 : 1024);

/**
 * Starts a server of Anthropic's Messages API that computes cache hits as documented: the cache has an entry for each
 * marked block, by the hash of all blocks up to it; a request finds the longest entry at most 20 blocks before one of its
 * marks; an entry lives for five minutes after its last use. A token is four characters here.
 */
export function startAnthropicCache(
  answer: (body: Body, index: number) => CacheAnswer | Promise<CacheAnswer>,
  { now = Date.now }: { now?: () => number } = {},
) {
  const entries = new Map<string, number>();
  const usages: CacheUsage[] = [];
  const bodies: string[] = [];

  function count(body: Body): CacheUsage {
    const blocks = blocksOf(body);
    const marks = blocks.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
    const least = leastOf(body.model);
    const tokensTo = (index: number): number => blocks.slice(0, index + 1).reduce((sum, { tokens }) => sum + tokens, 0);
    const isKnown = (index: number): boolean => (entries.get(blocks[index]?.hash ?? "") ?? 0) > now();
    const hits = marks.flatMap((mark) => {
      const near = Array.from({ length: lookback }, (_, back) => mark - back).filter((index) => index >= 0);
      return near.find(isKnown) ?? [];
    });
    const hit = Math.max(-1, ...hits);
    const written = marks.filter((mark) => tokensTo(mark) >= least);
    const end = Math.max(hit, ...written);
    for (const index of [hit, ...written]) if (index >= 0) entries.set(blocks[index]?.hash ?? "", now() + ttl_ms);
    const read = hit === -1 ? 0 : tokensTo(hit);
    const kept = end === -1 ? 0 : tokensTo(end);
    return {
      input_tokens: tokensTo(blocks.length - 1) - kept,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: kept - read,
    };
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text();
      bodies.push(text);
      const body = JSON.parse(text) as Body;
      const fault = faultOf(body);
      if (fault)
        return Response.json(
          { type: "error", error: { type: "invalid_request_error", message: fault } },
          { status: 400 },
        );
      const usage = count(body);
      usages.push(usage);
      const said = await answer(body, bodies.length - 1);
      return new Response(eventsOf(said, usage), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    /** Request bodies byte by byte, oldest first. */
    bodies,
    usages,
    base_url: `http://127.0.0.1:${server.port}/v1`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

/** Blocks in the order in which Anthropic hashes them, each with the hash of all up to it. */
function blocksOf({ model, tools = [], system = [], tool_choice, thinking, messages }: Body) {
  // A change of these loses the cache of messages, but neither tools nor system prompt.
  const hasImages = JSON.stringify(messages).includes('"type":"image"');
  const settings = JSON.stringify({ tool_choice, thinking, hasImages });
  const all = [
    ...tools.map((block) => ({ block, as: "tool" })),
    ...system.map((block) => ({ block, as: "system" })),
    ...messages.flatMap(({ role, content }) => content.map((block) => ({ block, as: `${role} ${settings}` }))),
  ];
  let hash = sha256(model);
  return all.map(({ block: { cache_control, ...block }, as }) => {
    const json = JSON.stringify(block);
    hash = sha256(`${hash} ${as} ${json}`);
    return { hash, tokens: Math.ceil(json.length / 4), isMarked: cache_control !== undefined };
  });
}

/** Returns why Anthropic refuses a request, or null. */
function faultOf({ tools = [], system = [], messages }: Body): string | null {
  const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content)];
  const marked = blocks.filter(({ cache_control }) => cache_control !== undefined);
  const nested = blocks.filter(({ content }) => JSON.stringify(content ?? null).includes('"cache_control"'));
  if (nested.length > 0) return "tool_result.content: cache_control is invalid here";
  if (marked.length > marksMax)
    return `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marked.length}.`;
  if (marked.some(({ type, text }) => type === "text" && String(text).trim() === ""))
    return "cache_control cannot be set for empty text blocks";
  if (marked.some(({ type }) => type === "thinking" || type === "redacted_thinking"))
    return "thinking.cache_control: Extra inputs are not permitted";
  if (
    [...system, ...messages.flatMap(({ content }) => content)].some(({ type, text }) => type === "text" && text === "")
  )
    return "text content blocks must be non-empty";
  return null;
}

let ids = 0;

function eventsOf({ text, thinking, calls = [] }: CacheAnswer, usage: CacheUsage): string {
  const event = (data: { type: string } & Record<string, unknown>) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const blocks = [
    ...(thinking === undefined ? [] : [{ type: "thinking", thinking }]),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...calls.map((call) => ({ type: "tool_use", ...call })),
  ];
  const cache_creation = {
    ephemeral_5m_input_tokens: usage.cache_creation_input_tokens,
    ephemeral_1h_input_tokens: 0,
  };
  const message = {
    id: `msg_${ids++}`,
    type: "message",
    role: "assistant",
    model: "claude",
    content: [],
    stop_reason: null,
  };
  const contents = blocks.map((block, index) => {
    const start = (content_block: object) => event({ type: "content_block_start", index, content_block });
    const delta = (delta: object) => event({ type: "content_block_delta", index, delta });
    const stop = event({ type: "content_block_stop", index });
    if ("thinking" in block) {
      const signature = delta({
        type: "signature_delta",
        signature: `signed-${sha256(block.thinking ?? "").slice(0, 12)}`,
      });
      return (
        start({ type: "thinking", thinking: "" }) +
        delta({ type: "thinking_delta", thinking: block.thinking }) +
        signature +
        stop
      );
    }
    if ("text" in block)
      return start({ type: "text", text: "" }) + delta({ type: "text_delta", text: block.text }) + stop;
    const { name, input } = block as { name: string; input: unknown };
    return (
      start({ type: "tool_use", id: `toolu_${ids++}`, name, input: {} }) +
      delta({ type: "input_json_delta", partial_json: JSON.stringify(input) }) +
      stop
    );
  });
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  return [
    event({ type: "message_start", message: { ...message, usage: { ...usage, cache_creation, output_tokens: 1 } } }),
    ...contents,
    event({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 40 } }),
    event({ type: "message_stop" }),
  ].join("");
}
