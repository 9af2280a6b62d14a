import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { notFound } from "../../core/not-found.ts";
import { isOver } from "../../core/run-state.ts";
import type { Auth, NoLongerValid } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import type { Base } from "../../http/part.ts";
import type { Principal } from "../../http/principal.ts";
import { pathOf } from "../../http/schemas.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Texts } from "../../lib/sse.ts";
import { untilAborted } from "../../lib/until-aborted.ts";
import { type OpenStream, requireReaderPlace } from "../../runs/open-stream.ts";
import type { RunStore } from "../../runs/store.ts";
import { type Cursor, type RunStream, requirePlace } from "../../runs/stream.ts";
import type { Watches } from "../../runs/watch.ts";
import { messagesIn } from "./messages.ts";
import { cursorAfter, offsetOf, parseOffset } from "./offset.ts";
import { controlled } from "./sse.ts";

interface DurableStreams {
  auth: Auth;
  journal: Journal;
  runs: Pick<RunStore, "standing">;
  watches: Watches;
  tail: RunStream;
  openStream: OpenStream;
  noLongerValid: NoLongerValid;
  /** Ends every wait: the server stops. */
  ending: Base["ending"];
  now: () => number;
}

/** How long a long poll waits for something to read. */
const wait_ms = 20_000;

// What one answer holds at most, as far as the next event fits: the reader comes back for the rest.
const page_length = 1024 * 1024;

const text = Type.String();
const query = { offset: text, live: text, cursor: text, token: text };

/**
 * Runs as streams of JSON that Durable Streams' clients read: from any place, waiting for what comes, to the end. Reading
 * is all that there is: what writes a run is its agent.
 */
export const durableStreamRoutes = (deps: DurableStreams) =>
  new Elysia({ prefix: "/streams/v1" }).use(deps.auth).get(
    "/runs/:id",
    ({ principal, params: { id }, request }) => {
      if (deps.runs.standing(principal, id).summary !== null) throw notFound(); // Its events went with its trace.
      const asked = readQuery(request);
      if (request.method === "HEAD") return headOf(deps, id);
      const from = asked.offset === "now" ? tailOf(deps, id) : parseOffset(asked.offset ?? "-1");
      requirePlace(deps, id, from, "offset");
      if (asked.live === "sse") {
        const cursor = () => cursorAfter(asked.cursor, deps.now());
        const place = {
          from: offsetOf(from),
          cursor,
          isClosed: () => isClosed(deps, id),
          isTail: (offset: string) => isTail(deps, id, offset),
        };
        const as = (texts: Texts) => controlled(texts, place);
        const stream = deps.openStream(principal, id, from, request, { noLongerValid: deps.noLongerValid, as });
        // To the letter of the protocol: no charset, and a cache that asks even where it may store nothing.
        stream.headers.set("content-type", "text/event-stream");
        stream.headers.set("cache-control", "no-cache, no-store, no-transform");
        return stream;
      }
      return asked.live === "long-poll"
        ? polled(deps, principal, id, from, asked, request)
        : caughtUp(deps, id, from, asked, request);
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
  const given = new URL(url).searchParams;
  const [offset, live, cursor] = [given.get("offset"), given.get("live"), given.get("cursor")];
  if (live !== null && live !== "long-poll" && live !== "sse") throw invalid("live", "Expected long-poll or sse.");
  if (live !== null && offset === null) throw invalid("offset", "This parameter is required.", "required");
  return { offset, live, cursor };
}

const isClosed = ({ journal }: DurableStreams, id: string): boolean => {
  const head = journal.head(id);
  return head === null || isOver(head.status);
};

/** Whether nothing lies behind this place; a long record is read in parts. */
const isTail = (deps: DurableStreams, id: string, offset: string): boolean =>
  parseOffset(offset).seq >= seqOf(deps, id);

const seqOf = ({ journal }: DurableStreams, id: string): number => journal.head(id)?.seq ?? 0;

/** The place behind all that there is: of a model call, behind what it has said so far. */
function tailOf({ journal, watches }: DurableStreams, id: string): Cursor {
  const seq = journal.head(id)?.seq ?? 0;
  const live = watches.live(id);
  return live?.anchor === seq && live.length > 0
    ? { seq, anchor: seq, offset: live.length }
    : { seq, anchor: null, offset: 0 };
}

type Headers = Record<string, string>;

const always: Headers = {
  "content-type": "application/json",
  "cache-control": "private, no-cache", // It may have been a key's that is revoked now.
  "cross-origin-resource-policy": "cross-origin",
};

function headOf(deps: DurableStreams, id: string): Response {
  const headers = { ...always, "cache-control": "no-store", "stream-next-offset": offsetOf(tailOf(deps, id)) };
  return new Response(null, { headers: { ...headers, ...(isClosed(deps, id) && { "stream-closed": "true" }) } });
}

/** What there is to read at once. */
interface Page {
  messages: string[];
  next: string;
  isUpToDate: boolean;
  isClosed: boolean;
}

/** A reader of a run, counted as one. `turn` settles when there may be more for it. */
interface Reader {
  texts: Texts;
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
      await turn(); // There is more, but others come first.
      continue;
    }
    const found = messagesIn(text);
    messages.push(...found.messages);
    next = found.next ?? next;
    seq = Math.max(seq, parseOffset(next).seq); // A model call that is told of now may have begun before others ended.
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

async function caughtUp(
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

/** Waits until there is something to read, the run is over, or nothing came for a while. */
async function polled(
  deps: DurableStreams,
  principal: Principal,
  id: string,
  from: Cursor,
  { cursor }: Asked,
  request: Request,
): Promise<Response> {
  const { watches, ending, noLongerValid, now } = deps;
  requireReaderPlace(watches, id);
  const reader = readerOf(deps, id, from);
  const watch = watches.join(id);
  const forget = untilAborted([ending(principal.project_id), request.signal], watch.leave);
  try {
    const end = performance.now() + wait_ms;
    for (;;) {
      const page = await read(deps, id, from, reader);
      const left = end - performance.now();
      if (page.messages.length === 0 && !page.isClosed && left > 0 && (await watch.next(left))) continue;
      const refused = noLongerValid(principal, request); // It may have ended while this waited.
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
