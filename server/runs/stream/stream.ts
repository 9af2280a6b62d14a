import { type Frame, frameOf, isLastFrame } from "../../domain/api-types/frames.ts";
import { frameForVisitor } from "../../domain/api-types/redact-for-visitors.ts";
import { AppError } from "../../domain/errors.ts";
import type { AuthorizationLink } from "../../domain/required-action.ts";
import { isRequest, type JournalEntry, type ModelAnswer, type RunEvent } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import { timestamp } from "../../domain/time.ts";
import { errorEvent, type PublicUrl } from "../../http/errors.ts";
import { readRows } from "../../http/page.ts";
import { canContinue } from "../../lib/cooperative-yield.ts";
import { sseComment, sseEvent, sseRetry, type TextSource } from "../../lib/sse.ts";
import { marksOf } from "../../runtime/agent-loop/messages.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { Live, RunSubscriptions } from "./run-subscriptions.ts";

/**
 * Position of a reader: all entries up to `seq`, and `offset` code units of the step that began at `anchor`. In a
 * client's cursor, `anchor` is `seq` if it has an offset.
 */
export interface Cursor {
  seq: number;
  anchor: number | null;
  offset: number;
}

const retry_ms = 2000;
const ping_ms = 5000;
const stillValid = () => null;
// Maximum text per read, because a slow reader holds it in memory and a journal may be large.
const text_length = 64 * 1024;
const page_entries = 16;
// Maximum token text per read: sent separately, tokens may take a hundred times the length of the output.
const tokens_length = 256 * 1024;

/** Parses the `id:` of an event, `12` or `12.340`; null or empty means from the beginning. */
export function parseCursor(text: string | null, param: string): Cursor {
  if (!text) return { seq: 0, anchor: null, offset: 0 };
  const match = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text);
  if (!match) throw new AppError("invalid_cursor", `"${text.slice(0, 40)}" is not the id of an event.`, { param });
  const seq = Number(match[1]);
  return { seq, anchor: match[2] ? seq : null, offset: Number(match[2] ?? 0) };
}

/** Throws `invalid_cursor` for a position that no event of this run has had. */
export function requireCursor(
  { journal, watches }: StreamDeps,
  runId: string,
  { seq, anchor: cursorSeq, offset }: Cursor,
  param: string,
): void {
  const refuse = () => new AppError("invalid_cursor", "This run has no such event.", { param });
  if (seq > (journal.head(runId)?.seq ?? 0)) throw refuse();
  if (cursorSeq === null) return;
  const start = startBefore(journal, runId, cursorSeq);
  if (!start) throw refuse();
  const { seq: anchor, event: begun } = start;
  const end = endOf(journal, runId, anchor, begun.step_index);
  // The length streamed by an earlier process or a superseded attempt is unknown.
  if (end?.type === "step.restarted" || end?.type === "run.recovered") return;
  const live = watches.live(runId);
  // Also unknown while a model call of an earlier process waits for its recovery, which a full disk delays.
  if (!end && begun.step_type === "model_call" && live?.anchor !== anchor) return;
  const length =
    end?.type === "step.completed" ? recordedLength(end.answer) : live?.anchor === anchor ? live.length : 0;
  if (offset > length) throw refuse();
}

/** Returns the event that ended the step: its completion, its restart, or the run's recovery. */
function endOf(journal: Journal, runId: string, anchor: number, step: number): RunEvent | undefined {
  const entries = readRows(
    (after: number, most) => journal.read(runId, after, most),
    anchor,
    ({ seq }) => seq,
  );
  for (const { event } of entries) {
    if (event.type === "run.recovered") return event;
    const ends = event.type === "step.completed" || event.type === "step.restarted";
    if (ends && event.step_index === step) return event;
  }
  return undefined;
}

const recordedLength = (answer: ModelAnswer | null): number =>
  answer ? answer.deltas.reduce((sum, value, index) => (index % 3 === 1 ? sum + value : sum), 0) : 0;

interface StreamDeps {
  journal: Journal;
  watches: RunSubscriptions;
}

export interface ReadOptions {
  /** Returns the error that ends the stream; null while the reader may read. */
  noLongerValid?: () => AppError | null;
  /** True if token events that continue the previous one have only their delta. */
  slim?: boolean;
  /** Addresses at which users consent, for readers that may answer the run. */
  link?: AuthorizationLink;
  /** True if the reader is a visitor of a chat page: it receives only the output, in the API's own dialect. */
  visitor?: boolean;
  /** Default: the API's own. */
  dialect?: EventEncoder;
}

/** Encoder of a stream's events. An empty text sends nothing. */
export interface EventEncoder {
  /**
   * `answer` is the model answer of the step that this event ends; `sent` the length of an open answer that was sent
   * before a request to the run.
   */
  event(frame: Frame, answer?: ModelAnswer | null, sent?: number): string;
  token(piece: Piece, of: { start: number; after?: number; step_index: number; at: number }): string;
  /** Encodes the error that ends the stream before its run. */
  error(why: AppError): string;
  /** Last text of a stream that ends because the server stops; default: a comment, because readers reconnect. */
  closing?: string;
  /** Send every delta separately instead of merging those that are ready. */
  isApart?: boolean;
  /** True for the last event a reader waits for. */
  isLast(frame: Frame): boolean;
}

export type RunStream = ReturnType<typeof createRunStream>;

/**
 * A run's journal and live deltas as server-sent events, from a cursor to the end of the run. Pull-based: no queues.
 */
export function createRunStream({ journal, watches, publicUrl }: StreamDeps & { publicUrl: PublicUrl }) {
  /**
   * Returns the texts to send; `wake` is called when there are more. Ends after the run's last event, after `stop`, or
   * within a second of `noLongerValid` returning an error, which is then the last event.
   */
  return function tail(
    runId: string,
    from: Cursor,
    wake: () => void,
    {
      noLongerValid = stillValid,
      slim = false,
      link,
      visitor = false,
      dialect = apiDialect(runId, slim, publicUrl),
    }: ReadOptions = {},
  ): TextSource {
    // Registered at once, not with the first text, so that the reader limit counts it.
    const watch = watches.read(runId, wake);
    let reader: Reader | null = null;
    const encoder = visitor ? forVisitors(dialect) : dialect;
    let head = sseRetry(retry_ms);
    let seen = -1;
    let stands: "open" | "stopped" | "over" = "open";
    let [isFirst, more] = [true, false];

    const events = (text: string): string => {
      const whole = head + text;
      head = "";
      return whole;
    };
    const last = (text: string | undefined): string | undefined => {
      stands = "over";
      return text;
    };

    function openReader(): Reader {
      reader ??= createReader(journal, runId, withAnchor(journal, runId, from), encoder, link);
      return reader;
    }

    /** Returns the next entries as text; null if the reader has received all. */
    function committed(): string | null | undefined {
      const { entries } = openReader();
      if (!more && watch.commits() === seen) return null;
      if (more && !canContinue(wake)) return null; // The rest of a long journal follows when the thread is free.
      seen = watch.commits();
      // Checked before reading the text: entries that come later are still to be read.
      const past = isPast(journal, runId);
      let page = entries();
      // A dialect may send nothing for many entries in a row; no notification comes for entries that exist already.
      while (page.more && !page.text && !page.last && canContinue(wake)) page = entries();
      more = page.more;
      const text = page.text ? events(page.text) : undefined;
      return page.last || (past && !more) ? last(text) : (text ?? null);
    }

    return {
      next(quiet_ms) {
        if (stands === "over") return undefined;
        if (stands === "stopped") return last(dialect.closing ?? sseComment("closing")); // Readers reconnect.
        const begins = isFirst;
        isFirst = false;
        const end = begins ? null : noLongerValid();
        if (end) return last(events(dialect.error(end)));
        const text = committed();
        if (text !== null) return text;
        const live = openReader().live(watch.live(), wake);
        if (live) return events(live);
        if (begins) return sseComment("open"); // Headers are sent with the first text.
        return quiet_ms > 0 && quiet_ms % ping_ms === 0 ? sseComment("ping") : null;
      },
      stop() {
        if (stands === "open") stands = "stopped";
        watch.leave();
      },
    };
  };
}

// True if the run is over or deleted: nothing more will be streamed.
function isPast(journal: Journal, runId: string): boolean {
  const head = journal.head(runId);
  return !head || isOver(head.status);
}

/** Returns the cursor of a reader that has seen the start of a model call, and its deltas up to the cursor's offset. */
const withAnchor = (journal: Journal, runId: string, { seq, offset }: Cursor): Cursor => ({
  seq,
  anchor: startBefore(journal, runId, seq)?.seq ?? null,
  offset,
});

/** Returns the start of the step that is open at an entry, if only events that may come within a step are between. */
function startBefore(journal: Journal, runId: string, at: number): { seq: number; event: StepStart } | null {
  for (let seq = at; seq > 0; seq--) {
    const event = journal.read(runId, seq - 1, 1)[0]?.event;
    if (event?.type === "step.started" || event?.type === "step.restarted") return { seq, event };
    if (!event || !mayBeWithin(event)) return null;
  }
  return null;
}

/**
 * True if the event may come between the start of a step and its deltas, or between those. A run may pause after the
 * start of a model call that its loop does not know yet.
 */
const mayBeWithin = (event: RunEvent): boolean =>
  isRequest(event) || event.type === "run.paused" || event.type === "run.resumed";

type StepStart = Extract<RunEvent, { type: "step.started" | "step.restarted" }>;

type Reader = ReturnType<typeof createReader>;

/** Converts journal entries and live deltas to text, and keeps the position. */
function createReader(
  journal: Journal,
  runId: string,
  from: Cursor,
  dialect: EventEncoder,
  link: AuthorizationLink | undefined,
) {
  let { seq, anchor, offset } = from;
  let size = page_entries;
  // True if tokens are left that did not fit into the last text; `held` has the rest of a recorded answer.
  let isCut = false;
  let held: { entry: JournalEntry; pieces: Iterator<Piece> } | null = null;

  /** Returns the next entries as text; `more` if others may follow. */
  function entries(): { text: string; last: boolean; more: boolean } {
    const list = held ? [held.entry] : journal.read(runId, seq, size);
    const more = held !== null || list.length === size;
    let text = "";
    let last = false;
    for (const entry of list) {
      if (text.length > text_length) {
        size = 1; // The skipped entry is large: read one at a time, so that it is not read again.
        return { text, last, more: true };
      }
      const { event } = entry;
      const answer = event.type === "step.completed" ? event.answer : null;
      if (event.type === "step.completed" && answer && anchor !== null) {
        const pieces = held?.pieces ?? (dialect.isApart ? recordedPieces(answer) : mergePieces(recordedPieces(answer)));
        text += tokens(pieces, { start: anchor, after: seq, step_index: event.step_index, at: entry.at });
        held = isCut ? { entry, pieces } : null;
        if (held) return { text, last, more: true };
        anchor = null;
      }
      // No deltas of the call follow: it has ended, or died with its process.
      if (event.type === "run.recovered" || (event.type === "step.completed" && event.step_type === "model_call"))
        anchor = null;
      if (event.type === "step.started" || event.type === "step.restarted") [anchor, offset] = [entry.seq, 0];
      const frame = frameOf(runId, entry, link);
      const isWithin = mayBeWithin(event) && anchor !== null && offset > 0;
      text += dialect.event(frame, answer, isWithin ? offset : undefined);
      seq = entry.seq;
      last ||= dialect.isLast(frame);
    }
    size = Math.min(size * 2, page_entries);
    return { text, last, more };
  }

  /** Returns live output that was not sent yet, limited in size; the rest follows when the thread is free. */
  function live(step: Live | null, resume: () => void): string {
    const newest = step?.pieces.at(-1);
    if (!step || !newest || step.anchor !== anchor || step.length <= offset) return "";
    if (isCut && !canContinue(resume)) return "";
    const of = { start: anchor, after: seq, step_index: step.step_index, at: newest.at };
    let text = "";
    do {
      text = tokens(merged(unsentPieces(step, offset)), of);
      isCut = step.length > offset;
    } while (isCut && !text && canContinue(resume)); // A dialect may send nothing for these.
    return text;
  }

  // A single piece, the usual case, needs no merging.
  const merged = (pieces: readonly LivePiece[]): Iterator<Piece> =>
    dialect.isApart ? singlePieces(pieces) : pieces.length === 1 ? pieces.values() : mergePieces(pieces);

  /** Returns token events for these pieces, up to the size limit. */
  function tokens(pieces: Iterator<Piece>, of: Parameters<EventEncoder["token"]>[1]): string {
    const begun = offset;
    let text = "";
    isCut = false;
    for (let next = pieces.next(); !next.done; next = pieces.next()) {
      const { kind, end, text: whole } = next.value;
      if (end <= offset) continue;
      text += dialect.token({ kind, text: whole.slice(Math.max(0, whole.length - (end - offset))), end }, of);
      offset = end;
      isCut = text.length > tokens_length || offset - begun > tokens_length;
      if (isCut) break;
    }
    return text;
  }

  return { entries, live };
}

/** The API's own events. */
function apiDialect(runId: string, slim: boolean, publicUrl: PublicUrl): EventEncoder {
  // Step and kind of the last token event.
  let [lastStart, lastKind] = [-1, ""];
  return {
    event: ({ event, seq, data }, _, sent) =>
      sseEvent(event, sent === undefined ? String(seq) : `${seq}.${sent}`, JSON.stringify(data)),
    token({ kind, text, end }, { start, after = start, step_index, at }) {
      const goesOn = slim && start === lastStart && kind === lastKind;
      [lastStart, lastKind] = [start, kind];
      const rest = goesOn
        ? ""
        : `,"kind":"${kind}","offset":${end},"step_index":${step_index},"seq":${start},"run_id":"${runId}","at":"${timestamp(at)}"`;
      return sseEvent("token", `${after}.${end}`, `{"delta":${JSON.stringify(text)}${rest}}`);
    },
    error: (why) => errorEvent(why, publicUrl),
    isLast: ({ event }) => isLastFrame(event),
  };
}

/** Reduces a dialect to output for visitors of a chat page, without reasoning. */
const forVisitors = (dialect: EventEncoder): EventEncoder => ({
  ...dialect,
  event(frame, answer, sent) {
    const shown = frameForVisitor(frame);
    return shown ? dialect.event(shown, answer, sent) : "";
  },
  token: (piece, of) => (piece.kind === "output" ? dialect.token(piece, of) : ""),
});

/** A piece of the answer that ends at offset `end`. */
interface Piece {
  kind: "output" | "reasoning";
  text: string;
  end: number;
}

/** Merges adjacent pieces of one kind, up to the size limit. */
function* mergePieces(pieces: Iterable<Piece>): Generator<Piece> {
  let open = null as Piece | null;
  for (const { kind, text, end } of pieces) {
    if (open?.kind === kind && open.text.length < text_length) open = { kind, text: open.text + text, end };
    else {
      if (open) yield open;
      open = { kind, text, end };
    }
  }
  if (open) yield open;
}

/** Yields the recorded deltas in the order in which they were streamed. */
function* recordedPieces({ parts, deltas }: ModelAnswer): Generator<Piece> {
  const sources = parts.map((part) => ({ part, taken: 0 }));
  let end = 0;
  for (let i = 0; i < deltas.length; i += 3) {
    const [source, length = 0] = [sources[deltas[i] ?? -1], deltas[i + 1]];
    if (!source || source.part.type === "tool_call") continue;
    const { part, taken } = source;
    source.taken += length;
    end += length;
    yield { kind: part.type === "text" ? "output" : "reasoning", text: part.text.slice(taken, source.taken), end };
  }
}

/** Returns the live deltas from the one that contains `offset`, up to the size limit. */
function unsentPieces({ pieces }: Live, offset: number): LivePiece[] {
  let [from, to] = [0, pieces.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((pieces[middle]?.end ?? 0) > offset) to = middle;
    else from = middle + 1;
  }
  const most = (pieces[from]?.end ?? 0) + text_length;
  let next = from + 1;
  while ((pieces[next]?.end ?? Number.POSITIVE_INFINITY) <= most) next++;
  return pieces.slice(from, next);
}

type LivePiece = Live["pieces"][number];

/** Yields every delta separately, including those that arrived together. */
function* singlePieces(pieces: readonly LivePiece[]): Generator<Piece> {
  for (const piece of pieces) {
    const { kind, text, end } = piece;
    let from = 0;
    for (const [length] of marksOf(piece)) {
      const to = from + length;
      yield { kind, text: text.slice(from, to), end: end - text.length + to };
      from = to;
    }
  }
}
