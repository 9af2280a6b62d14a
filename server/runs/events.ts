import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { notFound } from "../core/not-found.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { isOver } from "../core/run-state.ts";
import type { NoLongerValid } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import { fillPage, read, readPage, toList } from "../http/page.ts";
import type { Principal } from "../http/principal.ts";
import { queryOf } from "../http/query-of.ts";
import type { Journal } from "../journal/journal.ts";
import { oneOf } from "../lib/schema.ts";
import { frameForVisitor } from "../wire/for-visitors.ts";
import { frameOf } from "../wire/frames.ts";
import type { OpenStream } from "./open-stream.ts";
import type { RunStore } from "./store.ts";
import { type Cursor, parseCursor, requirePlace } from "./stream.ts";
import type { Watches } from "./watch.ts";

export interface EventDeps {
  journal: Journal;
  runs: RunStore;
  watches: Watches;
  openStream: OpenStream;
  noLongerValid: NoLongerValid;
}

export const Frames = oneOf(["full", "slim"], {
  default: "full",
  description: "For streams. `slim`: a `token` event that continues the one before it has only its `delta`.",
});
export const Token = Type.String({
  description: "A client token, in place of the header `Authorization`, which a browser's `EventSource` cannot send.",
});

/** A page of the events of a run, or a stream of those that follow where the client stands. */
export function answerEvents(deps: EventDeps, principal: Principal, id: string, request: Request) {
  requireEvents(deps, principal, id);
  if (!request.headers.get("accept")?.includes("text/event-stream")) return eventList(deps, principal, id, request.url);
  const from = readCursor(deps, id, request);
  // By this a browser's reader knows that it need not come back.
  if (isPastEnd(deps, id, from)) return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
  const { openStream, noLongerValid } = deps;
  return openStream(principal, id, from, request, { noLongerValid, slim: readSlim(request.url) });
}

/** Throws 404 for a stream of a run that is not there for this key, or whose events went with its trace. */
export function requireEvents({ runs }: Pick<EventDeps, "runs">, principal: Principal, id: string): void {
  if (runs.standing(principal, id).summary !== null) throw notFound();
}

/** Whether token events are asked for without what the stream has said before. */
export function readSlim(url: string): boolean {
  const frames = queryOf(url).get("frames");
  if (frames !== null && !Value.Check(Frames, frames)) throw invalid("frames", "Expected one of full, slim.");
  return frames === "slim";
}

/** `Last-Event-ID` is what a browser sends by itself; the parameter is for a first request. */
function readCursor(deps: EventDeps, id: string, request: Request): Cursor {
  const last = request.headers.get("last-event-id");
  if (last) return cursorWithin(deps, id, last, "Last-Event-ID");
  return cursorWithin(deps, id, queryOf(request.url).get("starting_after"), "starting_after");
}

/** Whether a reader has been told of the run's end, after which nothing comes. */
function isPastEnd({ journal }: EventDeps, id: string, { seq }: Cursor): boolean {
  const head = journal.head(id);
  return head !== null && isOver(head.status) && seq >= head.seq;
}

function cursorWithin(deps: EventDeps, id: string, text: string | null, param: string): Cursor {
  const cursor = parseCursor(text, param);
  requirePlace(deps, id, cursor, param);
  return cursor;
}

async function eventList(deps: EventDeps, { token }: Principal, id: string, url: string) {
  const { limit, starting_after } = readPage(url, { frames: Frames, token: Token });
  const { seq } = cursorWithin(deps, id, starting_after, "starting_after");
  const entries = read(
    (after: number, most) => deps.journal.read(id, after, most),
    seq,
    (entry) => entry.seq,
  );
  const show = (entry: JournalEntry) => {
    const frame = frameOf(id, entry);
    return token?.is_visitor ? frameForVisitor(frame) : frame;
  };
  const { data, has_more } = await fillPage(entries, limit, show);
  return toList(data, has_more, (frame) => String(frame.seq));
}
