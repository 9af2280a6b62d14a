import { patience_ms } from "./until.ts";

/** One server-sent event. */
export interface Frame {
  /** Empty if the event says why a stream ends. */
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test asks for fields that no type of this suite promises.
  data: any;
}

export type EventStream = Awaited<ReturnType<typeof openStream>>;

/**
 * Opens a stream and reads it in the background, so that bytes sent before the server's death are not lost; `onFrame`
 * is called for each event.
 */
export async function openStream(open: (signal: AbortSignal) => Promise<Response>, onFrame?: (frame: Frame) => void) {
  const abort = new AbortController();
  const response = await open(abort.signal);
  const frames: Frame[] = [];
  const comments: string[] = [];
  let end: "open" | "ended" | "cut" = "open";
  let wake = Promise.withResolvers<void>();
  const took = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const reading = (async () => {
    try {
      for await (const block of blocks(response.body!)) {
        const frame = parseBlock(block);
        if (frame) {
          frames.push(frame);
          onFrame?.(frame);
        } else if (block.startsWith(":")) comments.push(block.slice(1).trim());
        took();
      }
      end = "ended";
    } catch {
      end = "cut"; // The server died, or the client left.
    }
    took();
  })();

  /** Returns the first event that matches `wanted`, also among those read already; throws if the stream ends before. */
  async function until(wanted: string | ((frame: Frame) => boolean)): Promise<Frame> {
    const holds = typeof wanted === "string" ? (frame: Frame) => frame.event === wanted : wanted;
    const patience = timeout();
    try {
      for (;;) {
        const found = frames.find(holds);
        if (found) return found;
        if (end !== "open")
          throw new Error(`The stream ended without it: ${frames.map(({ event }) => event).join(" ")}`);
        await Promise.race([wake.promise, patience.promise]);
      }
    } finally {
      patience.clear();
    }
  }

  /** Waits for the end and returns all events. */
  async function rest(): Promise<Frame[]> {
    const patience = timeout();
    await Promise.race([reading, patience.promise]).finally(patience.clear);
    return frames;
  }

  return {
    response,
    frames,
    comments,
    until,
    rest,
    /** Returns how it ended: by the server, or cut off. */
    ending: () => end,
    lastId: (): string | null => frames.findLast(({ id }) => id !== "")?.id ?? null,
    /** Closes the connection, as a client does that leaves. */
    async close(): Promise<void> {
      abort.abort();
      await reading;
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await reading;
    },
  };
}

/**
 * Returns the text of each model call, by the `seq` of its `step.started`, as a conforming reader sees it: deltas
 * joined, and discarded after a restart. Throws at the first doubled or missing character.
 */
export function textsOf(frames: readonly Frame[]): string[] {
  const texts = new Map<number, string>();
  for (const { event, id, data } of frames) {
    if (event === "step.restarted") texts.delete(data.discards);
    if (event !== "token") continue;
    const text = (texts.get(data.seq) ?? "") + data.delta;
    if (text.length !== data.offset || id !== `${data.seq}.${data.offset}`)
      throw new Error(`${id} says offset ${data.offset} after ${text.length} characters.`);
    texts.set(data.seq, text);
  }
  return [...texts.values()];
}

/** Returns the `seq` of the journaled events, in the order of their arrival. */
export const seqsOf = (frames: readonly Frame[]): number[] =>
  frames.filter(({ event }) => event !== "token").map(({ data }) => data.seq);

async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split("\n\n");
    text = parts.pop()!;
    yield* parts;
  }
}

function parseBlock(block: string): Frame | null {
  const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const [id, event, data] = [fields.get("id"), fields.get("event"), fields.get("data")];
  return event && data ? { id: id ?? "", event, data: JSON.parse(data) } : null;
}

function timeout() {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Nothing for ${patience_ms} ms.`)), patience_ms);
  promise.catch(() => {}); // The promise may lose every race.
  return { promise, clear: () => clearTimeout(timer) };
}
