import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { missingParameter } from "../../domain/error-messages.ts";
import { notFound } from "../../domain/not-found.ts";
import { isOver } from "../../domain/run-state.ts";
import type { Auth, NoLongerValid } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import type { Base } from "../../http/module.ts";
import type { Principal } from "../../http/principal.ts";
import { pathOf } from "../../http/schemas.ts";
import { onAbort } from "../../lib/on-abort.ts";
import type { TextSource } from "../../lib/sse.ts";
import type { RunStore } from "../../runs/store.ts";
import type { RunSubscriptions } from "../../runs/stream/run-subscriptions.ts";
import { assertReaderLimit, type OpenSseResponse } from "../../runs/stream/sse-response.ts";
import { type Cursor, type RunStream, requireCursor } from "../../runs/stream/stream.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { messagesIn } from "./messages.ts";
import { cursorAfter, offsetOf, parseOffset } from "./offset.ts";
import { withControlEvents } from "./sse.ts";

interface DurableStreams {
  auth: Auth;
  journal: Journal;
  runs: RunStore;
  watches: RunSubscriptions;
  tail: RunStream;
  openStream: OpenSseResponse;
  noLongerValid: NoLongerValid;
  /** Ends every wait when the server stops. */
  ending: Base["abortSignalOf"];
  now: () => number;
}

/** Duration of a long poll. */
const wait_ms = 20_000;

// Maximal length of a response; it may exceed it by one event. The reader requests the rest.
const page_length = 1024 * 1024;

const text = Type.String();
const query = { offset: text, live: text, cursor: text, token: text };

/**
 * Runs as JSON streams for clients of Durable Streams: from any offset, live, to the end. Read-only, because only its
 * agent writes a run.
 */
export const durableStreamRoutes = (deps: DurableStreams) =>
  new Elysia({ prefix: "/streams/v1" }).use(deps.auth).get(
    "/runs/:id",
    ({ principal, params: { id }, request }) => {
      // Its events were deleted with its trace.
      if (deps.runs.standing(principal, id).summary !== null) throw notFound();
      const streamQuery = readQuery(request);
      if (request.method === "HEAD") return headOf(deps, id);
      const from = streamQuery.offset === "now" ? tailOf(deps, id) : parseOffset(streamQuery.offset ?? "-1");
      requireCursor(deps, id, from, "offset");
      if (streamQuery.live === "sse") {
        const cursor = () => cursorAfter(streamQuery.cursor, deps.now());
        const place = {
          from: offsetOf(from),
          cursor,
          isClosed: () => isClosed(deps, id),
          isTail: (offset: string) => isTail(deps, id, offset),
        };
        const as = (texts: TextSource) => withControlEvents(texts, place);
        const stream = deps.openStream(principal, id, from, request, { noLongerValid: deps.noLongerValid, as });
        // As the protocol requires: no charset, and `no-cache` besides `no-store`.
        stream.headers.set("content-type", "text/event-stream");
        stream.headers.set("cache-control", "no-cache, no-store, no-transform");
        return stream;
      }
      return streamQuery.live === "long-poll"
        ? polled(deps, principal, id, from, streamQuery, request)
        : waitForMessages(deps, id, from, streamQuery, request);
    },
    {
      operation: {
        id: "durable_streams.read",
        summary: "Read a run as a durable stream",
        needs: "read_or_run",
        client: "read",
        query,
      },
      params: pathOf("run"),
    },
  );

interface Asked {
  offset: string | null;
  live: "long-poll" | "sse" | null;
  cursor: string | null;
}

function readQuery({ url }: Request): Asked {
  const searchParams = new URL(url).searchParams;
  const [offset, live, cursor] = [searchParams.get("offset"), searchParams.get("live"), searchParams.get("cursor")];
  if (live !== null && live !== "long-poll" && live !== "sse") throw invalid("live", "Must be long-poll or sse.");
  if (live !== null && offset === null) throw invalid("offset", missingParameter, "required");
  return { offset, live, cursor };
}

const isClosed = ({ journal }: DurableStreams, id: string): boolean => {
  const head = journal.head(id);
  return head === null || isOver(head.status);
};

/** True if nothing follows this offset; long records are read in parts. */
const isTail = (deps: DurableStreams, id: string, offset: string): boolean =>
  parseOffset(offset).seq >= seqOf(deps, id);

const seqOf = ({ journal }: DurableStreams, id: string): number => journal.head(id)?.seq ?? 0;

/** Returns the end of the stream; during a model call, the end of its text so far. */
function tailOf({ journal, watches }: DurableStreams, id: string): Cursor {
  const seq = journal.head(id)?.seq ?? 0;
  const live = watches.live(id);
  return live && live.length > 0 ? { seq, anchor: seq, offset: live.length } : { seq, anchor: null, offset: 0 };
}

type Headers = Record<string, string>;

const always: Headers = {
  "content-type": "application/json",
  "cache-control": "private, no-cache", // The key may be revoked by the time of the next request.
  "cross-origin-resource-policy": "cross-origin",
};

function headOf(deps: DurableStreams, id: string): Response {
  const headers = { ...always, "cache-control": "no-store", "stream-next-offset": offsetOf(tailOf(deps, id)) };
  return new Response(null, { headers: { ...headers, ...(isClosed(deps, id) && { "stream-closed": "true" }) } });
}

/** A batch to read at once. */
interface Page {
  messages: string[];
  next: string;
  isUpToDate: boolean;
  isClosed: boolean;
}

/** A reader of a run, counted against the limit. `turn` resolves when there may be more to read. */
interface Reader {
  texts: TextSource;
  turn(): Promise<void>;
}

function readerOf(deps: DurableStreams, id: string, from: Cursor): Reader {
  let wake = () => {};
  const texts = deps.tail(id, from, () => wake());
  const turn = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  return { texts, turn };
}

async function read(deps: DurableStreams, id: string, from: Cursor, { texts, turn }: Reader): Promise<Page> {
  const messages: string[] = [];
  let [next, seq] = [offsetOf(from), from.seq];
  for (let length = 0; length < page_length; ) {
    const text = texts.next(0);
    if (text === undefined) return { messages, next, isUpToDate: true, isClosed: isClosed(deps, id) };
    if (text === null) {
      if (seq >= seqOf(deps, id)) return { messages, next, isUpToDate: true, isClosed: false };
      await turn(); // There is more, but let other requests go first.
      continue;
    }
    const found = messagesIn(text);
    messages.push(...found.messages);
    next = found.next ?? next;
    seq = Math.max(seq, parseOffset(next).seq); // The current model call may have started before others ended.
    length += text.length;
  }
  return { messages, next, isUpToDate: false, isClosed: false };
}

function headersOf(page: Page): Headers {
  return {
    ...always,
    "stream-next-offset": page.next,
    ...(page.isUpToDate && { "stream-up-to-date": "true" }),
    ...(page.isClosed && { "stream-closed": "true" }),
  };
}

async function waitForMessages(
  deps: DurableStreams,
  id: string,
  from: Cursor,
  { offset }: Asked,
  request: Request,
): Promise<Response> {
  const reader = readerOf(deps, id, from);
  const page = await read(deps, id, from, reader).finally(reader.texts.stop);
  const headers = headersOf(page);
  if (offset === "now") return bodyOf(page, { ...headers, "cache-control": "no-store" });
  const etag = `"${id}:${offsetOf(from)}:${page.next}${page.isClosed ? ":c" : ""}"`;
  if (request.headers.get("if-none-match") === etag)
    return new Response(null, { status: 304, headers: { ...headers, etag } });
  return bodyOf(page, { ...headers, etag });
}

const bodyOf = ({ messages }: Page, headers: Headers): Response => new Response(`[${messages.join(",")}]`, { headers });

/** Waits until there is something to read, the run ends, or the time is up. */
async function polled(
  deps: DurableStreams,
  principal: Principal,
  id: string,
  from: Cursor,
  { cursor }: Asked,
  request: Request,
): Promise<Response> {
  const { watches, ending, noLongerValid, now } = deps;
  assertReaderLimit(watches, id);
  const reader = readerOf(deps, id, from);
  const watch = watches.join(id);
  const forget = onAbort([ending(principal.project_id), request.signal], watch.leave);
  try {
    const end = performance.now() + wait_ms;
    for (;;) {
      const page = await read(deps, id, from, reader);
      const left = end - performance.now();
      if (page.messages.length === 0 && !page.isClosed && left > 0 && (await watch.next(left))) continue;
      const refused = noLongerValid(principal, request); // The key may have expired during the wait.
      if (refused) throw refused;
      const headers = { ...headersOf(page), "stream-cursor": cursorAfter(cursor, now()) };
      return page.messages.length > 0 ? bodyOf(page, headers) : new Response(null, { status: 204, headers });
    }
  } finally {
    forget();
    watch.leave();
    reader.texts.stop();
  }
}
