import { EventSourceParserStream } from "eventsource-parser/stream";
import { parseExact } from "../../server/lib/exact-numbers.ts";
import type { RunFrame } from "../../server/wire/events.ts";
import type { Feedback } from "./feedback.ts";

/** Why something could not be done, as the server says it; a connection that was lost has no code. */
export class ChatError extends Error {
  constructor(
    readonly code: string | null,
    readonly status: number,
    message: string,
    /** Which field of the request is refused. */
    readonly param: string | null = null,
  ) {
    super(message);
  }
}

interface Answerable {
  tool_call_id: string;
  output?: unknown;
  is_error?: boolean;
  decision?: "approve" | "reject";
}

export interface Said {
  id: string;
  role: string;
  content: string;
  images?: { file_id: string }[];
  files?: { file_id: string; filename: string }[];
  run_id: string | null;
}

/** A call that a run waits for, its own or one of an agent below it. */
export interface Asked {
  id: string;
  tool: string;
  arguments: unknown;
  needs: "output" | "approval" | "reconcile";
}

interface Run {
  input: unknown;
  file_ids?: string[];
  required_action: { submit_tool_outputs: { tool_calls: Asked[] } } | null;
}

interface Scored {
  id: string;
  run_id: string;
  value: number;
  comment: string | null;
}

interface ServerOptions {
  /** Where the server is; asked each time, since an element gets its attributes after it was made. */
  url(): string;
  token(): string;
  /** Gets another token when one is over; false where there is none. */
  renew(): Promise<boolean>;
  /** Told while the connection is lost, and when it is there again. */
  onConnection(isLost: boolean): void;
  /** Aborted when nobody looks any more: nothing is read from then on. */
  signal(): AbortSignal;
}

const attempts = 8;
/** A stream that lasted this long was there: a run may wait for days, and proxies cut what is quiet. */
const steady_ms = 10_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What a chat asks of the server. What failed on its way is asked again: no request has its effect twice. */
export function createServer({ url, token, renew, onConnection, signal }: ServerOptions) {
  async function once(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
    const isForm = body instanceof FormData;
    const sent = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) };
    const response = await fetch(url() + path, {
      method,
      ...sent,
      headers: {
        ...headers,
        authorization: `Bearer ${token()}`,
        ...(body !== undefined && !isForm && { "content-type": "application/json" }),
      },
    });
    if (response.ok) return response;
    const said = await response.json().catch(() => null);
    const { code = null, message = response.statusText, param = null } = said?.error ?? {};
    throw new ChatError(code, response.status, message, param);
  }

  /** Throws a `ChatError` for what the server refuses, and once it cannot be reached any more. */
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

  /** A run's events to the last, or until nobody looks: from an open response, and after a cut from the last id. */
  async function* follow(id: string | null, begun: Response | null, after: string | null): AsyncGenerator<Read> {
    const left = signal();
    let [run, last, response] = [id, after, begun];
    for (let silent = 0; silent < attempts; silent++) {
      response ??= await events(run!, last);
      if (response.status === 204) return;
      const opened_ms = performance.now();
      let isOver = false;
      try {
        for await (const frame of framesOf(response, left)) {
          isOver = isTokenOver(frame);
          if (frame.event === ("error" as string)) break; // The token is over, or the server stops.
          silent = 0;
          last = frame.id ?? last;
          run ??= (frame.data as { run_id: string }).run_id;
          yield frame;
          if (frame.event === "run.completed" || frame.event === "run.failed") return;
        }
      } catch {
        if (run === null) throw unreachable();
      }
      if (left.aborted) return;
      response = null;
      if (isOver) continue; // What is asked next is refused, and renews it.
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
      json<{ data: Said[] }>(ask("GET", `/v1/threads/${id}/messages?limit=100&order=desc`)).then(({ data }) =>
        data.toReversed(),
      ),
    run: (id: string) => json<Run>(ask("GET", `/v1/runs/${id}?exclude=messages,tool_calls`)),
    /** The id of the file that it becomes. */
    upload: (file: File) => {
      const form = new FormData();
      form.append("purpose", "attachment");
      form.append("file", file, file.name || "document");
      return json<{ id: string }>(ask("POST", "/v1/files", form)).then(({ id }) => id);
    },
    picture: (id: string) => ask("GET", `/v1/files/${id}/content`).then((response) => response.blob()),
    cancel: (id: string) => ask("POST", `/v1/runs/${id}/cancel`, {}),
    /** What somebody else has answered meanwhile is answered. */
    submit: (id: string, tool_outputs: Answerable[]) =>
      ask("POST", `/v1/runs/${id}/submit_tool_outputs`, { tool_outputs }).catch((error) => {
        if (!(error instanceof ChatError && answered.includes(error.code))) throw error;
      }),
    /** The id of what it gave. */
    score: (run: string, { value, comment }: Feedback) =>
      json<Scored>(
        ask("PUT", `/v1/runs/${run}/scores/feedback`, { value: value === "good" ? 1 : 0, comment: comment || null }),
      ).then(({ id }) => id),
    unscore: (id: string) =>
      ask("DELETE", `/v1/scores/${id}`).catch((error) => {
        if (error.status !== 404) throw error; // It is gone already.
      }),
    /** What was given in a thread; nothing for a token that gives none. */
    scores: (thread: string) =>
      json<{ data: Scored[] }>(ask("GET", `/v1/scores?thread_id=${thread}&name=feedback&limit=100`)).then(
        ({ data }) => data,
        () => [],
      ),
  };
}

const answered: (string | null)[] = ["tool_call_already_resolved", "run_not_awaiting_action"];

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

/** What a refusal means for the person who chats. */
export function inWords(error: unknown): string {
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

/** What became of a run, where that is no answer. */
export function endInWords(code: string | null | undefined): string {
  if (code === "run_cancelled") return "Stopped.";
  if (code === "guardrail_blocked") return "This cannot be answered here.";
  if (code === "action_expired") return "Nobody decided in time.";
  if (code === "budget_exceeded") return "This answer would have cost more than it may.";
  return "The answer could not be finished. Try again.";
}
