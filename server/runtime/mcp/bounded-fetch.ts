import { type Egress, EgressError, type EgressStream } from "../../lib/egress.ts";
import { createStreamMask, type StreamMask } from "../../lib/exact-masks.ts";
import { contentTypeOf } from "../../lib/mime-type.ts";
import type { Fail } from "./deadline.ts";
import { type AuthorizationRefusal, McpFailure } from "./mcp-failure.ts";

/** Limits per operation, whatever the server asks for. */
const limits = { bytes: 4 << 20, requests: 64, farewell_ms: 5_000 };

interface Setting {
  egress: Egress;
  timeout_ms: number;
  /** Called with the first failure of a connection. */
  fail: Fail;
  /** Called with an answer that refuses the authorization. */
  refused?(refusal: AuthorizationRefusal): void;
  /** Closes the connections of the operation. */
  signal: AbortSignal;
  /** Tracks requests that are sent after the operation. */
  farewell(work: Promise<unknown>): void;
}

type Message = { id?: unknown; method?: unknown };

/** Messages that end a request of ours. They are sent although the operation is over. */
const farewells: ReadonlySet<unknown> = new Set(["notifications/cancelled", "tasks/cancel"]);

/**
 * Creates the `fetch` of one operation: through the egress guard, limited in total, and with an end to every response.
 */
export function createBoundedFetch({ egress, timeout_ms, fail, refused, signal, farewell }: Setting) {
  let requests = 0;
  let left = limits.bytes;

  return async function boundedFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    // No listening between calls and no resumption of broken streams.
    if (init.method === "GET") return new Response(null, { status: 405 });
    const message = messageOf(init.body);
    if (init.method === "DELETE" || farewells.has(message.method)) return sayGoodbye(url, init);
    try {
      // Questions for the status of a task are as many as its time allows.
      if (message.method !== "tasks/get" && ++requests > limits.requests)
        throw new McpFailure("mcp_protocol_error", "The server asked for too much.", "sent");
      const bounds = { timeoutMs: timeout_ms, maxBytes: limits.bytes, signal };
      const answer = await egress.stream(String(url), { ...outgoing(init), ...bounds });
      return answered(answer, message);
    } catch (error) {
      throw failed(error);
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

  function answered({ status, headers, body }: EgressStream, message: Message): Response {
    if (status === 401 || status === 403) refused?.({ status, challenge: headers.get("www-authenticate") });
    const isRequest = message.method !== undefined && message.id !== undefined;
    if (isRequest && status === 202) throw noResult();
    if ([204, 205, 304].includes(status)) return new Response(null, { status, headers });
    const form = isRequest && status < 300 ? contentTypeOf(headers) : "";
    return new Response(counted(body, framed(form, message), maskOf(form)), { status, headers });
  }

  function counted(
    body: ReadableStream<Uint8Array>,
    [before, after]: [string, string],
    mask: StreamMask | null,
  ): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (before && controller.enqueue(encoder.encode(before))),
        async pull(controller) {
          try {
            for (;;) {
              const { value, done } = await reader.read();
              if (done) {
                if (mask) controller.enqueue(mask.end());
                if (after) controller.enqueue(encoder.encode(after));
                return controller.close();
              }
              left -= value.length;
              if (left < 0) throw new McpFailure("response_too_large", `More than ${limits.bytes} bytes came back.`);
              const shown = mask ? mask.push(value) : value;
              if (shown.length > 0) return controller.enqueue(shown);
            }
          } catch (error) {
            void reader.cancel().catch(() => {});
            throw failed(error);
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  function failed(error: unknown): unknown {
    const failure = error instanceof EgressError ? new McpFailure(error.code, error.message, error.request) : error;
    if (failure instanceof McpFailure) fail(failure);
    return failure;
  }
}

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
  const error = { code: unansweredCode, message: "unanswered" };
  const last = JSON.stringify({ jsonrpc: "2.0", id, error });
  if (form === "text/event-stream") return ["", `\n\ndata: ${last}\n\n`];
  if (form === "application/json") return ["[", `,${last}]`];
  return ["", ""];
}

const noResult = () => new McpFailure("mcp_protocol_error", "The server ended its answer without a result.", "sent");

const messageOf = (body: unknown): Message => (typeof body === "string" ? (JSON.parse(body) as Message) : {});

const outgoing = ({ method, headers, body }: RequestInit) => ({
  method: method as "POST",
  headers: Object.fromEntries(new Headers(headers)),
  ...(typeof body === "string" && { body }),
});
