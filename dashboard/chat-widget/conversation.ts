import { EventSourceParserStream } from "eventsource-parser/stream";
import type { RunFrame } from "../../server/domain/api-types/events.ts";
import type { Elicitation } from "../../server/domain/run-event.ts";
import { parseExact } from "../../server/lib/exact-numbers.ts";
import type { Feedback } from "./feedback.ts";

/** A failed request with the server's message. `code` is null if the connection was lost. */
export class ChatError extends Error {
  constructor(
    readonly code: string | null,
    readonly status: number,
    message: string,
    /** Field of the request that the server rejected. */
    readonly param: string | null = null,
  ) {
    super(message);
  }
}

export interface Answerable {
  tool_call_id: string;
  output?: unknown;
  is_error?: boolean;
  decision?: "approve" | "reject";
  elicitation?: { id: string; action: "accept" | "decline" | "cancel"; content?: Record<string, unknown> };
}

export interface ThreadMessage {
  id: string;
  role: string;
  content: string;
  images?: { file_id: string }[];
  files?: { file_id: string; filename: string }[];
  run_id: string | null;
}

/** A call that a run waits for, its own or a subagent's. */
export interface PendingCall {
  tool_call_id: string;
  name: string;
  arguments: unknown;
  needs: "output" | "approval" | "reconcile" | "authorization" | "elicitation";
  elicitation?: Elicitation;
}

/** A consent of the user that a run waits for. */
export interface PendingConsent {
  oauth_client_id: string;
  name: string;
  /** Where the user gives it; null if somebody else has to. */
  url: string | null;
}

interface Run {
  input: unknown;
  file_ids?: string[];
  required_action: { submit_tool_outputs: { tool_calls: PendingCall[] }; authorizations?: PendingConsent[] } | null;
}

interface Score {
  id: string;
  run_id: string;
  value: number;
  comment: string | null;
}

interface ServerOptions {
  /** Returns the server's address. A function, because an element gets its attributes after it is created. */
  url(): string;
  token(): string;
  /** Gets a new token when the old one has expired. Returns false if there is none. */
  renew(): Promise<boolean>;
  /** Called when the connection is lost, and when it is back. */
  onConnection(isLost: boolean): void;
  /** Returns a signal that is aborted when the element is removed; reading stops then. */
  signal(): AbortSignal;
}

const attempts = 8;
/** A stream that lasted this long counts as connected: runs may wait for days, and proxies cut idle connections. */
const steady_ms = 10_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The chat's API client. Failed requests are retried; no request takes effect twice. */
export function createServer({ url, token, renew, onConnection, signal }: ServerOptions) {
  async function once(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
    const isForm = body instanceof FormData;
    const bodyInit = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) };
    const response = await fetch(url() + path, {
      method,
      ...bodyInit,
      headers: {
        ...headers,
        authorization: `Bearer ${token()}`,
        ...(body !== undefined && !isForm && { "content-type": "application/json" }),
      },
    });
    if (response.ok) return response;
    const errorBody = await response.json().catch(() => null);
    const { code = null, message = response.statusText, param = null } = errorBody?.error ?? {};
    throw new ChatError(code, response.status, message, param);
  }

  /** Throws a `ChatError` if the server rejects the request or stays unreachable. */
  async function ask(
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Response> {
    const headers = method === "POST" ? { "idempotency-key": crypto.randomUUID(), ...more } : more;
    let isRenewed = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await once(method, path, body, headers);
        onConnection(false);
        return response;
      } catch (error) {
        const refusal = error instanceof ChatError ? error : null;
        if (refusal?.status === 401 && !isRenewed) {
          isRenewed = await renew();
          if (isRenewed) continue;
        }
        if ((refusal && refusal.status < 500) || attempt === attempts || signal().aborted)
          throw refusal ?? unreachable();
        onConnection(true);
        await pause(Math.min(8000, 250 * 2 ** attempt));
      }
    }
  }

  const events = (id: string, after: string | null): Promise<Response> =>
    ask("GET", `/v1/runs/${id}/events${after === null ? "" : `?starting_after=${after}`}`, undefined, {
      accept: "text/event-stream",
    });

  /** Yields a run's events until its end or until aborted. Resumes after the last event id if the connection breaks. */
  async function* follow(
    id: string | null,
    startResponse: Response | null,
    after: string | null,
  ): AsyncGenerator<Read> {
    const abortSignal = signal();
    let [run, last, response] = [id, after, startResponse];
    for (let silent = 0; silent < attempts; silent++) {
      response ??= await events(run!, last);
      if (response.status === 204) return;
      const opened_ms = performance.now();
      let isOver = false;
      try {
        for await (const frame of framesOf(response, abortSignal)) {
          isOver = isTokenOver(frame);
          if (frame.event === ("error" as string)) break; // The token has expired, or the server is stopping.
          silent = 0;
          last = frame.id ?? last;
          run ??= (frame.data as { run_id: string }).run_id;
          yield frame;
          if (frame.event === "run.completed" || frame.event === "run.failed") return;
        }
      } catch {
        if (run === null) throw unreachable();
      }
      if (abortSignal.aborted) return;
      response = null;
      if (isOver) continue; // The next request is rejected with 401, which renews the token.
      if (performance.now() - opened_ms > steady_ms) silent = 0;
      onConnection(true);
      await pause(Math.min(8000, 250 * 2 ** silent));
    }
    throw unreachable();
  }

  const json = async <T>(response: Promise<Response>): Promise<T> => parseExact<T>(await (await response).text());

  return {
    follow,
    start: (body: object) => ask("POST", "/v1/runs", { ...body, stream: true }),
    createThread: () => json<{ id: string }>(ask("POST", "/v1/threads", {})),
    thread: (id: string) => json<{ status: string; last_run_id: string | null }>(ask("GET", `/v1/threads/${id}`)),
    messages: (id: string) =>
      json<{ data: ThreadMessage[] }>(ask("GET", `/v1/threads/${id}/messages?limit=100&order=desc`)).then(({ data }) =>
        data.toReversed(),
      ),
    run: (id: string) => json<Run>(ask("GET", `/v1/runs/${id}?exclude=messages,tool_calls`)),
    /** Uploads a file and returns its id. */
    upload: (file: File) => {
      const form = new FormData();
      form.append("purpose", "attachment");
      form.append("file", file, file.name || "document");
      return json<{ id: string }>(ask("POST", "/v1/files", form)).then(({ id }) => id);
    },
    picture: (id: string) => ask("GET", `/v1/files/${id}/content`).then((response) => response.blob()),
    /** Sends a message to a run that is at work. */
    steer: (id: string, content: unknown) => ask("POST", `/v1/runs/${id}/messages`, { role: "user", content }),
    cancel: (id: string) => ask("POST", `/v1/runs/${id}/cancel`, {}),
    /** Ignores calls that have been answered elsewhere in the meantime. */
    submit: (id: string, tool_outputs: Answerable[]) =>
      ask("POST", `/v1/runs/${id}/submit_tool_outputs`, { tool_outputs }).catch((error) => {
        if (!(error instanceof ChatError && alreadyAnsweredCodes.includes(error.code))) throw error;
      }),
    /** Stores a rating and returns the score's id. */
    score: (run: string, { value, comment }: Feedback) =>
      json<Score>(
        ask("PUT", `/v1/runs/${run}/scores/feedback`, { value: value === "good" ? 1 : 0, comment: comment || null }),
      ).then(({ id }) => id),
    unscore: (id: string) =>
      ask("DELETE", `/v1/scores/${id}`).catch((error) => {
        if (error.status !== 404) throw error; // The score was deleted already.
      }),
    /** Returns the ratings of a thread; empty if the token may not give any. */
    scores: (thread: string) =>
      json<{ data: Score[] }>(ask("GET", `/v1/scores?thread_id=${thread}&name=feedback&limit=100`)).then(
        ({ data }) => data,
        () => [],
      ),
  };
}

const alreadyAnsweredCodes: (string | null)[] = ["tool_call_already_resolved", "run_not_awaiting_action"];

const isTokenOver = ({ event, data }: Read): boolean =>
  event === ("error" as string) && (data as { error?: { code?: string } }).error?.code === "client_token_expired";

const unreachable = (): ChatError => new ChatError(null, 0, "The server cannot be reached.");

type Read = RunFrame & { id: string | undefined };

async function* framesOf({ body }: Response, left: AbortSignal): AsyncGenerator<Read> {
  const reader = body!
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  const leave = () => void reader.cancel().catch(() => {});
  left.addEventListener("abort", leave);
  if (left.aborted) leave();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield { event: value.event, id: value.id, data: parseExact(value.data) } as Read;
    }
  } finally {
    left.removeEventListener("abort", leave);
    leave();
  }
}

/** Returns the message for the person who chats. */
export function describeError(error: unknown): string {
  const code = error instanceof ChatError ? error.code : "bug";
  return words[code ?? "unreachable"] ?? "Something went wrong. Try again.";
}

const words: Record<string, string> = {
  unreachable: "The chat cannot reach its server. Check your connection, then try again.",
  client_token_expired: "Your time in this chat is over. Reload the page to go on.",
  invalid_api_key: "This chat is closed. Reload the page, or contact the site's owner.",
  key_revoked: "This chat is closed. Reload the page, or contact the site's owner.",
  missing_api_key: "This chat is not set up: it has no token.",
  insufficient_scope: "This chat may not do that.",
  origin_not_allowed: "This chat may not be used on this site.",
  rate_limited: "Too many messages at once. Wait a moment, then try again.",
  concurrency_limit_exceeded: "Many people are asking just now. Try again in a moment.",
  thread_busy: "The last message is still being answered.",
  validation_failed: "The message could not be taken. Make it shorter, then try again.",
  file_too_large: "A document is too large, or you have sent as many as you may.",
  unsupported_file_type: "A document is of a kind that cannot be read here.",
  payload_too_large: "The message is too long. Make it shorter, then try again.",
  shutting_down: "The server starts again. Try again in a moment.",
  storage_full: "The server has no room left. Try again later.",
};

/** Describes how a run ended without an answer. */
export function describeEnd(code: string | null | undefined): string {
  if (code === "run_cancelled") return "Stopped.";
  if (code === "guardrail_blocked") return "This cannot be answered here.";
  if (code === "action_expired") return "Nobody decided in time.";
  if (code === "budget_exceeded") return "This answer would have cost more than it may.";
  return "The answer could not be finished. Try again.";
}
