import { setTimeout as sleep } from "node:timers/promises";
import { type Egress, EgressError, type EgressStream } from "../../lib/egress.ts";
import { isTransient } from "../../lib/egress-error.ts";
import { createStreamMask, type StreamMask } from "../../lib/exact-masks.ts";
import { contentTypeOf } from "../../lib/mime-type.ts";
import type { Fail } from "./deadline.ts";
import { createEventReader, type EventReader } from "./event-reader.ts";
import { type AuthorizationRefusal, McpFailure } from "./mcp-failure.ts";

/** Limits per operation, whatever the server asks for. */
const limits = { bytes: 4 << 20, requests: 64, farewell_ms: 5_000 };

// In a row: attempts that fail, and attempts after which no event came. Streams that go on are bounded by the call's time.
const resumptions = { failed_most: 5, idle_most: 64, longest_ms: 10_000 };

interface Setting {
  egress: Egress;
  timeout_ms: number;
  /** Called with the first failure of a connection. */
  fail: Fail;
  /** Called with an answer that refuses the authorization. */
  refused?(refusal: AuthorizationRefusal): void;
  /** Closes the connections of the operation. */
  signal: AbortSignal;
  /** Requests the stream of what the server assigns to no call, and resumes it while this is true. */
  listens?(): boolean;
  /** Tracks requests that are sent after the operation. */
  farewell(work: Promise<unknown>): void;
  /** Waits before a stream is resumed. */
  pause?(ms: number, signal: AbortSignal): Promise<void>;
}

/** Requests the rest of a stream of events; null if the server does not have it. */
type Resume = () => Promise<EgressStream | null>;

type Message = { id?: unknown; method?: unknown };

/** Questions about a task at work, asked again if a connection fails. */
const taskQuestions: ReadonlySet<unknown> = new Set(["tasks/get", "tasks/result"]);

/** Messages that end a request of ours. They are sent although the operation is over. */
const farewells: ReadonlySet<unknown> = new Set(["notifications/cancelled", "tasks/cancel"]);

/**
 * Creates the `fetch` of one operation: through the egress guard, limited in total, and with an end to every response.
 */
export function createBoundedFetch({
  egress,
  timeout_ms,
  fail,
  refused,
  signal,
  listens,
  farewell,
  pause = (ms, signal) => sleep(ms, undefined, { signal }),
}: Setting) {
  let requests = 0;
  let left = limits.bytes;

  return async function boundedFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    // Broken streams are resumed here, unseen by the SDK.
    if (init.method === "GET") return listens ? listen(url, init) : refusedStream();
    const message = messageOf(init.body);
    if (init.method === "DELETE" || farewells.has(message.method)) return sayGoodbye(url, init);
    try {
      // Questions for the status of a task are as many as its time allows.
      if (message.method !== "tasks/get" && ++requests > limits.requests)
        throw new McpFailure("mcp_protocol_error", "The server asked for too much.", "sent");
      const bounds = { timeoutMs: timeout_ms, maxBytes: limits.bytes, signal };
      const answer = await egress.stream(String(url), { ...outgoing(init), ...bounds });
      return answered(answer, message, (events) => resumptionOf(url, init, events));
    } catch (error) {
      throw failed(error, message);
    }
  };

  function sayGoodbye(url: string | URL, init: RequestInit): Promise<Response> {
    const work = egress
      .stream(String(url), { ...outgoing(init), timeoutMs: limits.farewell_ms })
      .then(async ({ body, status, headers }) => {
        await body.cancel();
        return new Response(null, { status, headers });
      });
    farewell(work.catch(() => {}));
    return work;
  }

  async function listen(url: string | URL, init: RequestInit): Promise<Response> {
    const bounds = { timeoutMs: timeout_ms, maxBytes: limits.bytes, signal };
    const answer = await egress.stream(String(url), { ...outgoing(init), ...bounds });
    if (isStream(answer)) return answered(answer, {}, (events) => resumptionOf(url, init, events));
    await answer.body.cancel();
    const { status, headers } = answer;
    if (status < 300) throw new McpFailure("mcp_protocol_error", "The server's stream is none.");
    return new Response(null, { status, headers });
  }

  function resumptionOf(url: string | URL, init: RequestInit, events: EventReader): Resume {
    const { method: _, body: __, headers } = outgoing(init);
    const { "content-type": ___, ...more } = headers;
    const bounds = { timeoutMs: timeout_ms, maxBytes: limits.bytes, signal };
    let [last, idle] = ["", 0];

    const isOver = (): boolean => events.resumableFrom() === "" || listens?.() === false;

    /** Waits for as long as the server wishes, and longer each time that nothing came of it. */
    function rest(times: number): Promise<void> {
      const wish_ms = events.retry_ms();
      return pause(Math.max(wish_ms, Math.min(resumptions.longest_ms, wish_ms * 2 ** times)), signal);
    }

    return async () => {
      const from = events.resumableFrom();
      idle = from === last ? idle + 1 : 0;
      last = from;
      if (idle >= resumptions.idle_most) return null;
      for (let failed = 0; failed < resumptions.failed_most && !isOver(); failed++) {
        await rest(idle + failed);
        // Its calls may have ended meanwhile.
        if (isOver()) return null;
        const own = { accept: "text/event-stream", "last-event-id": from };
        const answer = await egress
          .stream(String(url), { method: "GET", headers: { ...more, ...own }, ...bounds })
          .catch((error) => {
            if (error instanceof EgressError && error.isTransient && !signal.aborted) return null;
            throw error;
          });
        if (answer && isStream(answer)) return answer;
        void answer?.body.cancel();
        if (answer && answer.status < 500 && answer.status !== 429) return null;
      }
      return null;
    };
  }

  function answered(
    { status, headers, body }: EgressStream,
    message: Message,
    resumption: (events: EventReader) => Resume,
  ): Response {
    if (status === 401 || status === 403) refused?.({ status, challenge: headers.get("www-authenticate") });
    const isRequest = message.method !== undefined && message.id !== undefined;
    if (isRequest && status === 202) throw noResult();
    if ([204, 205, 304].includes(status)) return new Response(null, { status, headers });
    const form = (isRequest || listens) && status < 300 ? contentTypeOf(headers) : "";
    const events = form === "text/event-stream" ? createEventReader(message.id) : null;
    const resume = events ? resumption(events) : async () => null;
    return new Response(counted(body, message, form, events, resume), { status, headers });
  }

  function counted(
    body: ReadableStream<Uint8Array>,
    message: Message,
    form: string,
    events: EventReader | null,
    resume: Resume,
  ): ReadableStream<Uint8Array> {
    const [before, after] = framed(form, message);
    let reader = body.getReader();
    let mask = maskOf(form);

    /** Returns the next bytes; null at the end. */
    async function read(): Promise<Uint8Array | null> {
      for (;;) {
        const { value, done } = await reader.read().catch((error) => {
          if (events?.resumableFrom() && error instanceof EgressError && error.isTransient && !signal.aborted)
            return { value: undefined, done: true };
          throw error;
        });
        if (!done) return value!;
        const next = await resume();
        if (!next) return null;
        // An event that was cut comes again.
        mask = maskOf(form);
        reader = next.body.getReader();
      }
    }

    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (before && controller.enqueue(encoder.encode(before))),
        async pull(controller) {
          try {
            for (;;) {
              const value = await read();
              if (value === null) {
                if (mask) controller.enqueue(mask.end());
                if (after) controller.enqueue(encoder.encode(after));
                return controller.close();
              }
              left -= value.length;
              if (left < 0) throw new McpFailure("response_too_large", `More than ${limits.bytes} bytes came back.`);
              const shown = mask ? mask.push(value) : value;
              events?.push(shown);
              if (shown.length > 0) return controller.enqueue(shown);
            }
          } catch (error) {
            void reader.cancel().catch(() => {});
            const failure = failed(error, message);
            if (!events || !isPassing(failure, message)) throw failure;
            // The SDK's client does not read the failure of a stream.
            controller.enqueue(encoder.encode(after));
            return controller.close();
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** Returns the failure of a message, and ends the operation with it, unless the message can be sent again. */
  function failed(error: unknown, { method }: Message): unknown {
    if (!(error instanceof EgressError || error instanceof McpFailure)) return error;
    // Only after its call has been sent does an operation ask for its task, and answer questions of the server.
    const isLater = method === undefined || taskQuestions.has(method);
    const failure = new McpFailure(error.code, error.message, isLater ? "sent" : error.request);
    if (!isPassing(failure, { method })) fail(failure);
    return failure;
  }
}

const isPassing = (failure: unknown, { method }: Message): boolean =>
  taskQuestions.has(method) && failure instanceof McpFailure && isTransient(failure.code);

const encoder = new TextEncoder();

// Fields whose numbers belong only to the server and the model, and keep all digits.
export const exactFields: ReadonlySet<string> = new Set(["structuredContent", "inputSchema"]);

function maskOf(form: string): StreamMask | null {
  const piece = form === "text/event-stream" ? "event" : "whole";
  return form === "" ? null : createStreamMask(piece, exactFields, limits.bytes);
}

/** Error code of our own end marker; not used by the protocol. */
export const unansweredCode = -32_099;

/**
 * Returns text to put around a response so that it always contains a reply to our request, at least an error at the
 * end. The SDK's client would wait until the deadline for a reply that is missing, truncated or has another id.
 */
function framed(form: string, { id }: Message): [before: string, after: string] {
  if (id === undefined) return ["", ""];
  const error = { code: unansweredCode, message: "unanswered" };
  const last = JSON.stringify({ jsonrpc: "2.0", id, error });
  if (form === "text/event-stream") return ["", `\n\ndata: ${last}\n\n`];
  if (form === "application/json") return ["[", `,${last}]`];
  return ["", ""];
}

const isStream = ({ status, headers }: EgressStream): boolean =>
  status === 200 && contentTypeOf(headers) === "text/event-stream";

const refusedStream = () => new Response(null, { status: 405 });

const noResult = () => new McpFailure("mcp_protocol_error", "The server ended its answer without a result.", "sent");

const messageOf = (body: unknown): Message => (typeof body === "string" ? (JSON.parse(body) as Message) : {});

const outgoing = ({ method, headers, body }: RequestInit) => ({
  method: method as "POST",
  headers: Object.fromEntries(new Headers(headers)),
  ...(typeof body === "string" && { body }),
});
