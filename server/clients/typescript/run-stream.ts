import type { Client, RequestOptions } from "./client.ts";
import { APIConnectionError, APIError, RunnelError, UnexpectedResponseError } from "./errors.ts";
import { parsedObject } from "./read-body.ts";
import { mayRetry, retryDelay, sleep } from "./retries.ts";
import { type Frame, readFrames } from "./sse.ts";

/** What every event of a run has. */
export interface AnyEvent {
  event: string;
  /** Opaque: where the stream goes on after this event. */
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own data; the generated types say which.
  data: any;
}

export interface StreamOptions extends RequestOptions {
  /** How long the server may be away before the stream gives up, in milliseconds. By default 300,000. */
  patienceMs?: number | undefined;
  /** After how long without any sign of life the connection counts as lost, in milliseconds. By default 20,000. */
  silenceMs?: number | undefined;
  /** Has less sent for each token. The events are the same, but for the time of a token: it is that of the first one. */
  slim?: boolean | undefined;
}

export interface FollowOptions extends StreamOptions {
  /** Begin after this event. */
  lastEventId?: string | undefined;
}

const ends = new Set(["run.completed", "run.failed"]);
/** Who never heard of the server learns soon that it is not there. */
const firstPatienceMs = 30_000;
/** A connection over which something comes after this time is one: the server sends something every five seconds. */
const lastingMs = 4000;

/**
 * The events of a run, each once and in order, until the run ends. Lost connections and restarts of the server are
 * survived: the stream reconnects after the last event that it had. It can be read once.
 */
export class RunStream<E extends AnyEvent> implements AsyncIterable<E> {
  /** The run, once the server has said it. */
  runId: string | null;
  /**
   * What the model says in its current turn, as far as it came; after the end, the run's output. What an attempt had
   * said that the server gave up is taken back.
   */
  text = "";
  readonly #client: Client;
  readonly #create: { path: string; body: object } | null;
  readonly #options: FollowOptions;
  /** When the server last was well: an event came that was new, or a connection lasted. Null: not yet. */
  #heardAt: number | null = null;
  /** The newest event of the journal. */
  #seq = 0;
  #lastId: string | undefined;
  #started = false;
  /** The event that began the step whose text this is. */
  #speaking: number | null = null;
  // biome-ignore lint/suspicious/noExplicitAny: as in AnyEvent.
  #token: any = null;

  constructor(client: Client, from: { runId: string } | { path: string; body: object }, options: FollowOptions = {}) {
    this.#client = client;
    this.runId = "runId" in from ? from.runId : null;
    this.#create = "path" in from ? from : null;
    this.#options = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    this.#lastId = options.lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    if (this.#started) throw new RunnelError("A stream can be read only once.");
    this.#started = true;
    const startedAt = Date.now();
    const { silenceMs = 20_000 } = this.#options; // The server sends something every five seconds.
    for (let attempt = 0; ; attempt++) {
      let problem: unknown;
      const [before, openedAt] = [this.#heardAt, Date.now()];
      // A connection that is cut again and again before anything comes is none.
      const notice = () => {
        if (Date.now() - openedAt >= lastingMs) this.#heardAt = Date.now();
      };
      try {
        const response = await this.#open();
        if (response.status === 204) return; // The last event was the end.
        if (!response.body || !/^text\/event-stream\b/i.test(response.headers.get("content-type") ?? ""))
          throw new UnexpectedResponseError(`${this.#client.baseUrl} did not return a stream of events.`);
        for await (const frame of readFrames(noticing(response.body, notice, silenceMs))) {
          const event = this.#take(frame, response.headers);
          if (event === null) continue;
          this.#heardAt = Date.now();
          yield event;
          this.#heardAt = Date.now(); // However long its reader took.
          if (ends.has(event.event)) return;
        }
        // It ended in the middle: the server stops, or a proxy lost its patience.
        problem = new APIConnectionError("The stream ended before the run.");
      } catch (error) {
        problem = error;
      }
      if (this.#heardAt !== before) attempt = 0;
      await this.#pause(attempt, problem, startedAt);
    }
  }

  /** The text of the model as it comes, piece by piece. */
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
      // Under the same key the server starts one run, however often it is asked, and returns its events from the first.
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

  /** Waits before the next attempt. Throws `problem` where no attempt would help, or enough were made. */
  async #pause(attempt: number, problem: unknown, startedAt: number): Promise<void> {
    const { patienceMs = 300_000, maxRetries = this.#client.maxRetries, signal } = this.#options;
    signal?.throwIfAborted();
    if (!mayRetry(problem)) throw problem;
    if (this.#heardAt === null && problem instanceof APIError && attempt >= maxRetries) throw problem;
    const patience = this.#heardAt === null ? Math.min(patienceMs, firstPatienceMs) : patienceMs;
    if (Date.now() - (this.#heardAt ?? startedAt) > patience) throw problem;
    await sleep(retryDelay(attempt, problem), signal);
  }

  /** The event of a frame; null for one that was there already. */
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

  /** A token with what a slim stream leaves out of it: the one before had the same. */
  #whole(token: AnyEvent["data"]): AnyEvent["data"] {
    const before = this.#token;
    const goesOn = token.kind === undefined && before;
    this.#token = goesOn ? { ...before, ...token, offset: before.offset + token.delta.length } : token;
    return this.#token;
  }
}

/**
 * The bytes of a body. `notice` is told of each piece. Fails with an `APIConnectionError` when the connection is lost, and
 * when nothing at all comes within `patienceMs`.
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
