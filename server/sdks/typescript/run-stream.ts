import type { Client, RequestOptions } from "./client.ts";
import { APIConnectionError, APIError, RunnelError, UnexpectedResponseError } from "./errors.ts";
import { parsedObject } from "./read-body.ts";
import { mayRetry, retryDelay, sleep } from "./retries.ts";
import { type Frame, readFrames } from "./sse.ts";

/** Fields common to all events of a run. */
export interface AnyEvent {
  event: string;
  /** Opaque position: the stream can be resumed after this event. */
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own data; the generated types say which.
  data: any;
}

export interface StreamOptions extends RequestOptions {
  /** Milliseconds that the server may be unreachable before the stream fails. Default: 300,000. */
  patienceMs?: number | undefined;
  /** Milliseconds without data after which the connection counts as lost. Default: 20,000. */
  silenceMs?: number | undefined;
  /** Reduces the data per token. The events are the same, except that tokens have the time of the first one. */
  slim?: boolean | undefined;
}

export interface FollowOptions extends StreamOptions {
  /** Id of the event after which the stream starts. */
  lastEventId?: string | undefined;
}

const ends = new Set(["run.completed", "run.failed"]);
/** Patience before the first contact, so that a wrong address fails soon. */
const firstPatienceMs = 30_000;
/**
 * A connection that still delivers data after this time counts as working; the server sends data every five seconds.
 */
const lastingMs = 4000;

/**
 * The events of a run, each once and in order, until the run ends. After a lost connection or a server restart, the
 * stream reconnects and resumes after the last event. It can be read only once.
 */
export class RunStream<E extends AnyEvent> implements AsyncIterable<E> {
  /** Id of the run, once the server has sent it. */
  runId: string | null;
  /**
   * Text of the model's current turn so far; after the end, the output of the run. Text of an abandoned attempt is
   * removed.
   */
  text = "";
  readonly #client: Client;
  readonly #create: { path: string; body: object } | null;
  readonly #options: FollowOptions;
  readonly #answer: ((runId: string) => Promise<void>) | null;
  /** Time of the last sign of a working server: a new event, or a connection that lasted. Null before that. */
  #heardAt: number | null = null;
  /** Sequence number of the newest journal event. */
  #seq = 0;
  #lastId: string | undefined;
  #started = false;
  /** Sequence number of the event that began the current text. */
  #speaking: number | null = null;
  // biome-ignore lint/suspicious/noExplicitAny: as in AnyEvent.
  #token: any = null;

  /** @param answer Answers the calls that the run waits for. Called after the reader had the event that asks. */
  constructor(
    client: Client,
    from: { runId: string } | { path: string; body: object },
    options: FollowOptions = {},
    answer?: (runId: string) => Promise<void>,
  ) {
    this.#client = client;
    this.#answer = answer ?? null;
    this.runId = "runId" in from ? from.runId : null;
    this.#create = "path" in from ? from : null;
    this.#options = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    this.#lastId = options.lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    try {
      let isFirst = true;
      for await (const event of this.#read()) {
        yield event;
        // The run that a message was sent to (`if_thread_busy`) may have asked before.
        const mayWait = event.event === "run.requires_action" || (isFirst && event.event !== "run.created");
        isFirst = false;
        if (mayWait) await this.#answer?.(this.runId!);
      }
    } catch (error) {
      if (error instanceof RunnelError) error.runId ??= this.runId;
      throw error;
    }
  }

  async *#read(): AsyncGenerator<E, void, undefined> {
    if (this.#started) throw new RunnelError("A stream can be read only once.");
    this.#started = true;
    const startedAt = Date.now();
    const { silenceMs = 20_000 } = this.#options; // The server sends data every five seconds.
    for (let attempt = 0; ; attempt++) {
      let problem: unknown;
      const [before, openedAt] = [this.#heardAt, Date.now()];
      // A connection that is cut again and again before any data must not reset the retries.
      const notice = () => {
        if (Date.now() - openedAt >= lastingMs) this.#heardAt = Date.now();
      };
      try {
        const response = await this.#open();
        if (response.status === 204) return; // The last event was the final one.
        if (!response.body || !/^text\/event-stream\b/i.test(response.headers.get("content-type") ?? ""))
          throw new UnexpectedResponseError(`${this.#client.baseUrl} did not return a stream of events.`);
        for await (const frame of readFrames(noticing(response.body, notice, silenceMs))) {
          const event = this.#take(frame, response.headers);
          if (event === null) continue;
          this.#heardAt = Date.now();
          yield event;
          this.#heardAt = Date.now(); // Again, because the consumer may have taken long.
          if (ends.has(event.event)) return;
        }
        // The stream was cut: the server stops, or a proxy timed out.
        problem = new APIConnectionError("The stream ended before the run.");
      } catch (error) {
        problem = error;
      }
      if (this.#heardAt !== before) attempt = 0;
      await this.#pause(attempt, problem, startedAt);
    }
  }

  /** Iterates over the pieces of the model's text. */
  async *textDeltas(): AsyncGenerator<string, void, undefined> {
    for await (const { event, data } of this) if (event === "token" && data.kind === "output") yield data.delta;
  }

  /** Reads the stream to its end. */
  async done(): Promise<void> {
    for await (const _ of this);
  }

  async #open(): Promise<Response> {
    const { patienceMs: _, silenceMs: __, lastEventId: ___, slim, ...options } = this.#options;
    const query = slim ? "?frames=slim" : "";
    if (this.runId === null && this.#create) {
      const { path, body } = this.#create;
      // The idempotency key makes retries return the same run, with its events from the first.
      const created = await this.#client.send("POST", `${path}${query}`, {
        ...options,
        body: { ...body, stream: true },
        maxRetries: 0,
      });
      this.runId = created.headers.get("location")?.split("/").at(-1) ?? null;
      return created;
    }
    const headers = {
      ...options.headers,
      accept: "text/event-stream",
      ...(this.#lastId !== undefined && { "last-event-id": this.#lastId }),
    };
    return await this.#client.send("GET", `/v1/runs/${encodeURIComponent(this.runId ?? "")}/events${query}`, {
      ...options,
      headers,
      maxRetries: 0,
    });
  }

  /** Waits before the next attempt. Throws `problem` if a retry cannot help or too many were made. */
  async #pause(attempt: number, problem: unknown, startedAt: number): Promise<void> {
    const { patienceMs = 300_000, maxRetries = this.#client.maxRetries, signal } = this.#options;
    signal?.throwIfAborted();
    if (!mayRetry(problem)) throw problem;
    if (this.#heardAt === null && problem instanceof APIError && attempt >= maxRetries) throw problem;
    const patience = this.#heardAt === null ? Math.min(patienceMs, firstPatienceMs) : patienceMs;
    if (Date.now() - (this.#heardAt ?? startedAt) > patience) throw problem;
    await sleep(retryDelay(attempt, problem), signal);
  }

  /** Parses the event of a frame; null for one that was already received. */
  #take({ event, id, data: text }: Frame, headers: Headers): E | null {
    // biome-ignore lint/suspicious/noExplicitAny: each event has its own data.
    const said: any = parsedObject(text, this.#client.baseUrl);
    if (event === "error") throw APIError.inStream(said, headers);
    if (event === "token" ? id !== null && id === this.#lastId : said.seq <= this.#seq) return null;
    if (event === "token" && typeof said.delta !== "string")
      throw new UnexpectedResponseError("A token of the stream has no text.");
    const data = event === "token" ? this.#whole(said) : said;
    if (event !== "token") this.#seq = data.seq ?? this.#seq;
    if (id !== null) this.#lastId = id;
    this.runId ??= data.run_id ?? null;
    const begins = event === "step.started" && data.type === "model_call";
    if (begins || (event === "step.restarted" && data.discards === this.#speaking)) {
      this.#speaking = data.seq;
      this.text = "";
    } else if (event === "token" && data.kind === "output") {
      this.#speaking ??= data.seq;
      this.text += data.delta;
    }
    return { event, id, data } as E;
  }

  /** Completes a slim token with the fields it shares with the one before. */
  #whole(token: AnyEvent["data"]): AnyEvent["data"] {
    const before = this.#token;
    const goesOn = token.kind === undefined && before;
    this.#token = goesOn ? { ...before, ...token, offset: before.offset + token.delta.length } : token;
    return this.#token;
  }
}

/**
 * Passes on the bytes of a body and calls `notice` for each chunk. Fails with an `APIConnectionError` if the connection
 * is lost or no data comes within `patienceMs`.
 */
function noticing(
  body: ReadableStream<Uint8Array>,
  notice: () => void,
  patienceMs: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new APIConnectionError("Nothing came for too long.")), patienceMs);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), silence]);
        if (done) return controller.close();
        notice();
        controller.enqueue(value);
      } catch (cause) {
        reader.cancel().catch(() => {});
        controller.error(
          cause instanceof APIConnectionError ? cause : new APIConnectionError("The connection was lost.", { cause }),
        );
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
