import { type Client, mayRetry, type RequestOptions, retryDelay, sleep } from "./client.ts";
import { APIError, ConnectionError, RunnelError } from "./errors.ts";
import { readFrames } from "./sse.ts";

/** What every event of a run has. */
export interface AnyEvent {
  event: string;
  /** Opaque: where the stream goes on after this event. */
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own data; the generated types say which.
  data: any;
}

export interface StreamOptions extends RequestOptions {
  /** Begin after this event. */
  lastEventId?: string;
  /** How long the server may be away before the stream gives up, in milliseconds. By default 300,000. */
  patienceMs?: number;
}

const ends = new Set(["run.completed", "run.failed"]);
/** The server sends something at least every five seconds. */
const silenceMs = 20_000;

/**
 * The events of a run, each once and in order, until the run ends. Lost connections and restarts of the server are
 * survived: the stream reconnects after the last event that it had.
 */
export class RunStream<E extends AnyEvent> implements AsyncIterable<E> {
  /** The run, once the first event has come. */
  runId: string | null;
  /** The text of the model's current answer so far. What a retried step had said before is taken back. */
  text = "";
  readonly #client: Client;
  readonly #create: { path: string; body: object } | null;
  readonly #options: StreamOptions;
  #lastId: string | undefined;
  #started = false;
  /** The step that speaks, and where its text begins. */
  #step: { seq: number; at: number } | null = null;

  constructor(client: Client, from: { runId: string } | { path: string; body: object }, options: StreamOptions = {}) {
    this.#client = client;
    this.runId = "runId" in from ? from.runId : null;
    this.#create = "path" in from ? from : null;
    this.#options = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
    this.#lastId = options.lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E> {
    if (this.#started) throw new RunnelError("A stream can be read only once.");
    this.#started = true;
    const { patienceMs = 300_000, signal } = this.#options;
    let lastHeard = Date.now();
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await this.#open();
        if (response.status === 204) return; // The last event was the end.
        for await (const { event, id, data } of readFrames(noticingSilence(response.body!, silenceMs))) {
          lastHeard = Date.now();
          attempt = 0;
          if (event === "error") throw APIError.of(401, JSON.parse(data), response.headers);
          const read = { event, id, data: JSON.parse(data) } as E;
          this.#note(read);
          yield read;
          if (ends.has(event)) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (!mayRetry(error) && !(error instanceof LostConnection)) throw error;
        if (Date.now() - lastHeard > patienceMs) throw error;
        await sleep(retryDelay(attempt, error), signal);
        continue;
      }
      // It ended in the middle: the server stops, or a proxy lost its patience.
      if (Date.now() - lastHeard > patienceMs) throw new ConnectionError("The stream was lost.");
      await sleep(retryDelay(attempt), signal);
    }
  }

  /** The text of the model as it comes, piece by piece. */
  async *textDeltas(): AsyncGenerator<string> {
    for await (const { event, data } of this) if (event === "token" && data.kind === "output") yield data.delta;
  }

  /** Reads the stream to its end. */
  async done(): Promise<void> {
    for await (const _ of this);
  }

  #open(): Promise<Response> {
    const { patienceMs: _, lastEventId: __, ...options } = this.#options;
    if (this.runId === null && this.#create) {
      const { path, body } = this.#create;
      // Under the same key the server starts one run, however often it is asked, and returns its events from the first.
      return this.#client.send("POST", path, { ...options, body: { ...body, stream: true }, maxRetries: 0 });
    }
    const headers = {
      accept: "text/event-stream",
      ...(this.#lastId !== undefined && { "last-event-id": this.#lastId }),
    };
    return this.#client.send("GET", `/v1/runs/${this.runId}/events`, {
      ...{ ...options, headers: { ...options.headers, ...headers } },
      ...{ idempotencyKey: undefined, maxRetries: 0 },
    });
  }

  #note({ event, id, data }: E): void {
    if (id !== null) this.#lastId = id;
    this.runId ??= data.run_id;
    if (event === "step.started" && data.type === "model_call") {
      this.#step = { seq: data.seq, at: 0 };
      this.text = "";
    } else if (event === "step.restarted" && this.#step?.seq === data.discards) {
      this.#step = { seq: data.seq, at: 0 };
      this.text = "";
    } else if (event === "token" && data.kind === "output") this.text += data.delta;
  }
}

class LostConnection extends Error {}

/** Fails when nothing at all comes for a while, though the server sends a sign of life every five seconds. */
function noticingSilence(body: ReadableStream<Uint8Array>, silenceMs: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new LostConnection("Nothing came for too long.")), silenceMs);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), silence]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        reader.cancel().catch(() => {});
        controller.error(error instanceof LostConnection ? error : new LostConnection(String(error)));
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
