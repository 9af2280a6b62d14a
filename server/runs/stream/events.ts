import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { frameOf } from "../../domain/api-types/frames.ts";
import { frameForVisitor } from "../../domain/api-types/redact-for-visitors.ts";
import { notFound } from "../../domain/not-found.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import type { NoLongerValid } from "../../http/auth.ts";
import { cachedQuery } from "../../http/cached-query.ts";
import { invalid } from "../../http/errors.ts";
import { fillPage, readPage, readRows, toList } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { oneOf } from "../../lib/schema.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { ConsentLinks } from "../consent/consent-links.ts";
import type { RunStore } from "../store.ts";
import type { RunSubscriptions } from "./run-subscriptions.ts";
import type { OpenSseResponse } from "./sse-response.ts";
import { type Cursor, parseCursor, requireCursor } from "./stream.ts";

export interface EventDeps {
  journal: Journal;
  runs: RunStore;
  watches: RunSubscriptions;
  links: Pick<ConsentLinks, "of">;
  openStream: OpenSseResponse;
  noLongerValid: NoLongerValid;
}

export const Frames = oneOf(["full", "slim"], {
  default: "full",
  description: "For streams. `slim`: a `token` event that continues the one before it has only its `delta`.",
});
export const Token = Type.String({
  description: "A client token, in place of the header `Authorization`, which a browser's `EventSource` cannot send.",
});

/** Responds with a page of a run's events, or with a stream from the client's cursor. */
export function answerEvents(deps: EventDeps, principal: Principal, id: string, request: Request) {
  requireEvents(deps, principal, id);
  if (!request.headers.get("accept")?.includes("text/event-stream")) return eventList(deps, principal, id, request.url);
  const from = readCursor(deps, id, request);
  // Status 204 tells a browser's EventSource not to reconnect.
  if (isPastEnd(deps, id, from)) return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
  const { openStream, noLongerValid } = deps;
  return openStream(principal, id, from, request, { noLongerValid, slim: readSlim(request.url) });
}

/** Throws 404 if the run does not exist for this key, or its events were deleted with its trace. */
export function requireEvents({ runs }: Pick<EventDeps, "runs">, principal: Principal, id: string): void {
  if (runs.standing(principal, id).summary !== null) throw notFound();
}

/** True if token events shall repeat only their delta. Throws for an unknown value. */
export function readSlim(url: string): boolean {
  const frames = cachedQuery(url).get("frames");
  if (frames !== null && !Value.Check(Frames, frames)) throw invalid("frames", "Must be one of full, slim.");
  return frames === "slim";
}

/** Browsers send `Last-Event-ID` on reconnect; the parameter is for a first request. */
function readCursor(deps: EventDeps, id: string, request: Request): Cursor {
  const lastEventId = request.headers.get("last-event-id");
  if (lastEventId) return cursorWithin(deps, id, lastEventId, "Last-Event-ID");
  return cursorWithin(deps, id, cachedQuery(request.url).get("starting_after"), "starting_after");
}

/** True if the reader has received the run's last event. */
function isPastEnd({ journal }: EventDeps, id: string, { seq }: Cursor): boolean {
  const head = journal.head(id);
  return head !== null && isOver(head.status) && seq >= head.seq;
}

function cursorWithin(deps: EventDeps, id: string, text: string | null, param: string): Cursor {
  const cursor = parseCursor(text, param);
  requireCursor(deps, id, cursor, param);
  return cursor;
}

async function eventList(deps: EventDeps, principal: Principal, id: string, url: string) {
  const { limit, starting_after } = readPage(url, { frames: Frames, token: Token });
  const { seq } = cursorWithin(deps, id, starting_after, "starting_after");
  const entries = readRows(
    (after: number, most) => deps.journal.read(id, after, most),
    seq,
    (entry) => entry.seq,
  );
  const link = deps.links.of(principal);
  const show = (entry: JournalEntry) => {
    const frame = frameOf(id, entry, link);
    return principal.token?.is_visitor ? frameForVisitor(frame) : frame;
  };
  const { data, has_more } = await fillPage(entries, limit, show);
  return toList(data, has_more, (frame) => String(frame.seq));
}
