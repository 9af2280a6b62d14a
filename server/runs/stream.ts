import { AppError } from "../core/errors.ts";
import type { JournalEntry, ModelAnswer, RunEvent } from "../core/run-event.ts";
import { isOver } from "../core/run-state.ts";
import { timestamp } from "../core/time.ts";
import { errorEvent, type PublicUrl } from "../http/errors.ts";
import { read } from "../http/page.ts";
import type { Journal } from "../journal/journal.ts";
import { mayGoOn } from "../lib/slices.ts";
import { sseComment, sseEvent, sseRetry, type Texts } from "../lib/sse.ts";
import { frameForVisitor } from "../wire/for-visitors.ts";
import { type Frame, frameOf, isLastFrame } from "../wire/frames.ts";
import type { Live, Watches } from "./watch.ts";

/** Where a reader stands: everything up to `seq`, and `offset` code units of the step that began at `anchor`. */
export interface Cursor {
  seq: number;
  anchor: number | null;
  offset: number;
}

const retry_ms = 2000;
const ping_ms = 5000;
const stillValid = () => null;
// What a reader is handed at once, so that one that does not take it holds no more: a whole journal may be large.
const text_length = 64 * 1024;
const page_entries = 16;
// Of the tokens of one step, as they are told: one by one they may be a hundred times as long as what was said.
const tokens_length = 256 * 1024;

/** Reads `12` or `12.340`, as it stood in the `id:` of the last event; null or empty means from the beginning. */
export function parseCursor(text: string | null, param: string): Cursor {
  if (!text) return { seq: 0, anchor: null, offset: 0 };
  const match = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text);
  if (!match) throw new AppError("invalid_cursor", `"${text.slice(0, 40)}" is not the id of an event.`, { param });
  const seq = Number(match[1]);
  return { seq, anchor: match[2] ? seq : null, offset: Number(match[2] ?? 0) };
}

/** Throws `invalid_cursor` for a place that no reader of this run can have been told. */
export function requirePlace(
  { journal, watches }: StreamDeps,
  runId: string,
  { seq, anchor, offset }: Cursor,
  param: string,
): void {
  const refuse = () => new AppError("invalid_cursor", "This run has no such event.", { param });
  if (seq > (journal.head(runId)?.seq ?? 0)) throw refuse();
  if (anchor === null) return;
  const [begun] = journal.read(runId, anchor - 1, 1).map(({ event }) => event);
  if (begun?.type !== "step.started" && begun?.type !== "step.restarted") throw refuse();
  const end = endOf(journal, runId, anchor, begun.step_index);
  // What an earlier process streamed, or an attempt that was given up, is void: nobody knows how long it was.
  if (end?.type === "step.restarted" || end?.type === "run.recovered") return;
  const live = watches.live(runId);
  // Nor is it known while a model call that an earlier process began waits for its recovery: a full disk delays that.
  if (!end && begun.step_type === "model_call" && live?.anchor !== anchor) return;
  const length =
    end?.type === "step.completed" ? recordedLength(end.answer) : live?.anchor === anchor ? live.length : 0;
  if (offset > length) throw refuse();
}

/** What ended a step that began with this entry: its completion, a new start, or the loss of its loop. */
function endOf(journal: Journal, runId: string, anchor: number, step: number): RunEvent | undefined {
  const entries = read(
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
  watches: Watches;
}

export interface ReadOptions {
  /** Why the reader may read no longer; null while it may. */
  noLongerValid?: () => AppError | null;
  /** Whether a token event that goes on with the one before it has its delta alone. */
  slim?: boolean;
  /** Whether the reader visits a chat page: it gets what was said, in the API's own words. */
  visitor?: boolean;
  /** By itself that of the API. */
  dialect?: Dialect;
}

/** How a stream says what happens to its run. A text may be empty: nothing is said then. */
export interface Dialect {
  /** `answer`: what the model said in the step that this ends. */
  event(frame: Frame, answer?: ModelAnswer | null): string;
  token(piece: Piece, of: { start: number; step_index: number; at: number }): string;
  /** Why the stream ends before its run does. */
  error(why: AppError): string;
  /** The last text of a stream that the server ends because it stops; by itself a comment, for readers who come back. */
  closing?: string;
  /** Whether each delta is told by itself; else those that are there together are told as one. */
  isApart?: boolean;
  /** Whether the reader awaits nothing after this. */
  isLast(frame: Frame): boolean;
}

export type RunStream = ReturnType<typeof createRunStream>;

/** A run's journal and live deltas as server-sent events, from any place, to the end. Reads by cursor: no queues. */
export function createRunStream({ journal, watches, publicUrl }: StreamDeps & { publicUrl: PublicUrl }) {
  /**
   * Text to send, `wake` tells when; ends after the run's last event, when it is stopped, or within a second of
   * `noLongerValid` giving a reason, which is its last event then.
   */
  return function tail(
    runId: string,
    from: Cursor,
    wake: () => void,
    {
      noLongerValid = stillValid,
      slim = false,
      visitor = false,
      dialect = apiDialect(runId, slim, publicUrl),
    }: ReadOptions = {},
  ): Texts {
    // Joined at once and not with the first text: whoever counts readers counts those on their way too.
    const watch = watches.read(runId, wake);
    let reader: ReturnType<typeof createReader> | null = null;
    const said = visitor ? forVisitors(dialect) : dialect;
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

    /** The next entries as text; null when the reader has had them all. */
    function committed(): string | null | undefined {
      reader ??= createReader(journal, runId, from.anchor === null ? anchored(journal, runId, from) : from, said);
      if (!more && watch.commits() === seen) return null;
      if (more && !mayGoOn(wake)) return null; // The rest of a long journal, for a reader that takes it as fast as it is read.
      seen = watch.commits();
      // Asked before the reader takes its time with the text: what comes later is still to be read.
      const past = isPast(journal, runId);
      let page = reader.entries();
      // A dialect may say nothing of many entries in a row, and nobody tells of those that are there already.
      while (page.more && !page.text && !page.last && mayGoOn(wake)) page = reader.entries();
      more = page.more;
      const text = page.text ? events(page.text) : undefined;
      return page.last || (past && !more) ? last(text) : (text ?? null);
    }

    return {
      next(quiet_ms) {
        if (stands === "over") return undefined;
        if (stands === "stopped") return last(dialect.closing ?? sseComment("closing")); // Whoever still reads may come back with the last id.
        const begins = isFirst;
        isFirst = false;
        const end = begins ? null : noLongerValid();
        if (end) return last(events(dialect.error(end)));
        const text = committed();
        if (text !== null) return text;
        const live = reader!.live(watch.live(), wake);
        if (live) return events(live);
        if (begins) return sseComment("open"); // Headers go out with the first text.
        return quiet_ms > 0 && quiet_ms % ping_ms === 0 ? sseComment("ping") : null;
      },
      stop() {
        if (stands === "open") stands = "stopped";
        watch.leave();
      },
    };
  };
}

// Whoever comes back after the last event, or after the run was deleted, has nothing to wait for.
function isPast(journal: Journal, runId: string): boolean {
  const head = journal.head(runId);
  return !head || isOver(head.status);
}

/** A reader that has seen the start of a model call, and none of its deltas, goes on with the first of them. */
function anchored(journal: Journal, runId: string, { seq }: Cursor): Cursor {
  const [entry] = seq > 0 ? journal.read(runId, seq - 1, 1) : [];
  const starts = entry?.event.type === "step.started" || entry?.event.type === "step.restarted";
  return { seq, anchor: starts ? seq : null, offset: 0 };
}

/** Turns the journal and live deltas into text, and keeps the place. */
function createReader(journal: Journal, runId: string, from: Cursor, dialect: Dialect) {
  let { seq, anchor, offset } = from;
  let size = page_entries;
  // Whether there are more tokens than were told the last time, and of a record all that was not told yet.
  let isCut = false;
  let held: { entry: JournalEntry; pieces: Iterator<Piece> } | null = null;

  /** The next entries as text; with `more`, there may be others after them. */
  function entries(): { text: string; last: boolean; more: boolean } {
    const list = held ? [held.entry] : journal.read(runId, seq, size);
    const more = held !== null || list.length === size;
    let text = "";
    let last = false;
    for (const entry of list) {
      if (text.length > text_length) {
        size = 1; // What was read in vain is large, and would be read again.
        return { text, last, more: true };
      }
      const { event } = entry;
      const answer = event.type === "step.completed" ? event.answer : null;
      if (event.type === "step.completed" && answer && anchor !== null) {
        const pieces = held?.pieces ?? (dialect.isApart ? recorded(answer) : together(recorded(answer)));
        text += tokens(pieces, { start: anchor, step_index: event.step_index, at: entry.at });
        held = isCut ? { entry, pieces } : null;
        if (held) return { text, last, more: true };
        anchor = null;
      }
      if (event.type === "step.started" || event.type === "step.restarted") [anchor, offset] = [entry.seq, 0];
      const frame = frameOf(runId, entry);
      text += dialect.event(frame, answer);
      seq = entry.seq;
      last ||= dialect.isLast(frame);
    }
    size = Math.min(size * 2, page_entries);
    return { text, last, more };
  }

  /** What was said live and not told yet: of much a part, and the next one when others have had their turn. */
  function live(step: Live | null, goOn: () => void): string {
    if (!step || step.anchor !== anchor || step.length <= offset) return "";
    if (isCut && !mayGoOn(goOn)) return "";
    const of = { start: anchor, step_index: step.step_index, at: step.pieces.at(-1)!.at };
    let text = "";
    do {
      text = tokens(toldOf(unseen(step, offset)), of);
      isCut = step.length > offset;
    } while (isCut && !text && mayGoOn(goOn)); // A dialect may say nothing of it.
    return text;
  }

  // Of one piece alone, as there is nearly always, nothing is to be made.
  const toldOf = (pieces: readonly LivePiece[]): Iterator<Piece> =>
    dialect.isApart ? eachOf(pieces) : pieces.length === 1 ? pieces.values() : together(pieces);

  /** Token events for these, as many as are told at once. */
  function tokens(pieces: Iterator<Piece>, of: { start: number; step_index: number; at: number }): string {
    const begun = offset;
    let text = "";
    isCut = false;
    for (let next = pieces.next(); !next.done; next = pieces.next()) {
      const { kind, end, text: said } = next.value;
      if (end <= offset) continue;
      text += dialect.token({ kind, text: said.slice(Math.max(0, said.length - (end - offset))), end }, of);
      offset = end;
      isCut = text.length > tokens_length || offset - begun > tokens_length;
      if (isCut) break;
    }
    return text;
  }

  return { entries, live };
}

/** The events as the API sends them. */
function apiDialect(runId: string, slim: boolean, publicUrl: PublicUrl): Dialect {
  // The step and the kind of the last token event.
  let [lastStart, lastKind] = [-1, ""];
  return {
    event: ({ event, seq, data }) => sseEvent(event, String(seq), JSON.stringify(data)),
    token({ kind, text, end }, { start, step_index, at }) {
      const goesOn = slim && start === lastStart && kind === lastKind;
      [lastStart, lastKind] = [start, kind];
      const rest = goesOn
        ? ""
        : `,"kind":"${kind}","offset":${end},"step_index":${step_index},"seq":${start},"run_id":"${runId}","at":"${timestamp(at)}"`;
      return sseEvent("token", `${start}.${end}`, `{"delta":${JSON.stringify(text)}${rest}}`);
    },
    error: (why) => errorEvent(why, publicUrl),
    isLast: ({ event }) => isLastFrame(event),
  };
}

/** The same for visitors of a chat page: what the model says to them, and not what it thinks. */
const forVisitors = (dialect: Dialect): Dialect => ({
  ...dialect,
  event(frame, answer) {
    const shown = frameForVisitor(frame);
    return shown ? dialect.event(shown, answer) : "";
  },
  token: (piece, of) => (piece.kind === "output" ? dialect.token(piece, of) : ""),
});

/** A stretch of the answer that ends at offset `end`. */
interface Piece {
  kind: "output" | "reasoning";
  text: string;
  end: number;
}

/** The same with neighbours of one kind joined, to as much as is told at once. */
function* together(pieces: Iterable<Piece>): Generator<Piece> {
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

/** The recorded deltas in the order in which they were streamed. */
function* recorded({ parts, deltas }: ModelAnswer): Generator<Piece> {
  const taken = parts.map(() => 0);
  let end = 0;
  for (let i = 0; i < deltas.length; i += 3) {
    const [place, length] = [deltas[i]!, deltas[i + 1]!];
    const part = parts[place]!;
    if (part.type === "tool_call") continue;
    const text = part.text.slice(taken[place], taken[place]! + length);
    taken[place]! += length;
    end += length;
    yield { kind: part.type === "text" ? "output" : "reasoning", text, end };
  }
}

/** The live deltas from the one that holds `offset` on: as many as are told at once. */
function unseen({ pieces }: Live, offset: number): LivePiece[] {
  let [from, to] = [0, pieces.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (pieces[middle]!.end > offset) to = middle;
    else from = middle + 1;
  }
  const most = pieces[from]!.end + text_length;
  let next = from + 1;
  while (next < pieces.length && pieces[next]!.end <= most) next++;
  return pieces.slice(from, next);
}

type LivePiece = Live["pieces"][number];

/** Each delta by itself, also of those that came together. */
function* eachOf(pieces: readonly LivePiece[]): Generator<Piece> {
  for (const { kind, text, end, marks = [text.length] } of pieces)
    for (let i = 0, from = 0; i < marks.length; i += 2) {
      const to = from + marks[i]!;
      yield { kind, text: text.slice(from, to), end: end - text.length + to };
      from = to;
    }
}
