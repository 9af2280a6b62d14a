import { parseExact } from "../../lib/exact-numbers.ts";
import type { Delta, FromWorker } from "./messages.ts";
import type { Piece } from "./output-guard.ts";

// Milliseconds between messages that only deltas cause, a delay that no reader notices.
const pace_ms = 3;
// Number of deltas after which they are merged: each costs more than its text to append and to read.
const separateDeltasMax = 4096;
// After that, the interval in ms is the number of deltas divided by this.
const deltasPerMillisecond = 1024;

/** The way of a loop's messages to the main thread. */
export interface Outlet {
  push(message: FromWorker): void;
  /** Calls `collect`, which pushes its messages, before the next ones are sent: at most 3 ms after the previous ones. */
  pushLater(collect: () => void): void;
}

/**
 * Sends the messages of a tick together, in their order, because each message to another thread has a cost. `defer`
 * schedules the end of the tick.
 */
export class MessageQueue<T> {
  readonly #post: (messages: T[]) => void;
  readonly #defer: (flush: () => void) => unknown;
  readonly #collectors = new Set<() => void>();
  #messages: T[] = [];
  #isDue = false;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;

  constructor(post: (messages: T[]) => void, defer: (flush: () => void) => unknown = setImmediate) {
    this.#post = post;
    this.#defer = defer;
  }

  push(message: T): void {
    this.#messages.push(message);
    this.#sendSoon();
  }

  /** See `Outlet`. All runs of a thread share the pace, so that many streams cost no more messages than one. */
  pushLater(collect: () => void): void {
    this.#collectors.add(collect);
    if (this.#isDue || this.#timer) return;
    const wait_ms = this.#sentAt + pace_ms - performance.now();
    if (wait_ms > 0) this.#timer = setTimeout(() => this.flush(), wait_ms);
    else this.#sendSoon();
  }

  /** Sends now the messages of this tick. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isDue = true; // Collectors schedule nothing.
    try {
      for (const collect of this.#collectors) collect();
    } finally {
      this.#collectors.clear();
      this.#isDue = false;
    }
    if (this.#messages.length === 0) return; // They were sent meanwhile.
    this.#sentAt = performance.now();
    const messages = this.#messages;
    this.#messages = [];
    this.#post(messages);
  }

  #sendSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#defer(() => this.flush());
  }
}

interface DeltaBatchOptions {
  outlet: Outlet;
  run_id: string;
  /** `seq` of the start of the step. */
  anchor: number;
  step_index: number;
  /** Start of the step by the monotonic clock. */
  begun: number;
  /** Called with each delta that is sent, for the journal: readers and the journal have the same deltas. */
  onDelta(delta: Delta): void;
}

/**
 * The deltas of one model call on their way to the main thread, and the only place where deltas wait. The first is sent
 * at once. Later ones are merged for up to 3 ms, with the length and time of each, because separate deltas take a
 * hundred times the memory of their text. After 4,096 they are merged without, for a growing interval: a million deltas
 * become about ten thousand.
 */
export class DeltaBatch {
  readonly #options: DeltaBatchOptions;
  #open: Delta | null = null;
  /** Number of deltas that readers and the journal can tell apart. */
  #count = 0;
  #generated: number | null = null;
  #timer: Timer | null = null;

  constructor(options: DeltaBatchOptions) {
    this.#options = options;
  }

  push(piece: Piece): void {
    if (this.#open?.part === piece.part && this.#open.kind === piece.kind) this.#extend(this.#open, piece.text);
    else this.#begin(piece);
    if (this.#count === 1 || this.#count === separateDeltasMax) this.flush();
    else if (this.#count < separateDeltasMax) this.#options.outlet.pushLater(this.flush);
    else this.#timer ??= setTimeout(this.flush, this.#count / deltasPerMillisecond);
  }

  /** Reports the number of UTF-16 code units that the model has generated so far, shown or not. */
  report(length: number): void {
    this.#generated = length;
    this.#options.outlet.pushLater(this.flush);
  }

  /** Sends now what has been merged. */
  readonly flush = (): void => {
    if (this.#timer) clearTimeout(this.#timer);
    const [delta, length] = [this.#open, this.#generated];
    [this.#timer, this.#open, this.#generated] = [null, null, null];
    const { outlet, run_id, anchor, onDelta } = this.#options;
    if (length !== null) outlet.push({ do: "generated", run_id, anchor, length });
    if (!delta) return;
    if (this.#count > separateDeltasMax) delta.ms = this.#now();
    onDelta(delta);
    outlet.push({ do: "delta", run_id, delta });
  };

  #begin({ part, kind, text }: Piece): void {
    this.flush();
    const { anchor, step_index } = this.#options;
    this.#open = { anchor, step_index, part, kind, text, ms: this.#now() };
    this.#count++;
  }

  #extend(delta: Delta, text: string): void {
    if (this.#count < separateDeltasMax) {
      delta.marks ??= [delta.text.length, delta.ms];
      delta.marks.push(text.length, this.#now());
      this.#count++;
    }
    delta.text += text;
  }

  #now(): number {
    return Math.round(performance.now() - this.#options.begun);
  }
}

/**
 * Format of the messages to the main thread: one JSON string per tick (cheaper than structured clone). Bytes of files
 * are transferred beside it, because base64 would be copied four times.
 */
export type EncodedMessages = string | { json: string; files: Uint8Array[] };

/** The queue of a worker thread for the main thread, which reads with `decode`. */
export const queueFor = (thread: Pick<Worker, "postMessage">): MessageQueue<FromWorker> =>
  new MessageQueue((messages) => {
    const { encoded, transfer } = encode(messages);
    thread.postMessage(encoded, transfer);
  });

/** Serializes messages and returns the buffers to transfer. */
export function encode(messages: readonly FromWorker[]): { encoded: EncodedMessages; transfer: ArrayBuffer[] } {
  const files = messages.flatMap((message) => (isFile(message) ? [ownMemory(message.question.content)] : []));
  const json = JSON.stringify(messages.map((message) => (isFile(message) ? withContent(message, empty) : message)));
  if (files.length === 0) return { encoded: json, transfer: [] };
  return { encoded: { json, files }, transfer: files.map(({ buffer }) => buffer) };
}

export function decode(encoded: EncodedMessages): FromWorker[] {
  if (typeof encoded === "string") return parseExact(encoded);
  const files = encoded.files.values();
  const messages: FromWorker[] = parseExact(encoded.json);
  return messages.map((message) => (isFile(message) ? withContent(message, files.next().value!) : message));
}

type FileMessage = Extract<FromWorker, { do: "ask" }> & {
  question: { of: "keep_file" | "keep_content"; content: Uint8Array };
};

const isFile = (message: FromWorker): message is FileMessage =>
  message.do === "ask" && (message.question.of === "keep_file" || message.question.of === "keep_content");

const withContent = (message: FileMessage, content: Uint8Array): FileMessage => ({
  ...message,
  question: { ...message.question, content },
});

const empty = new Uint8Array();

/** Copies bytes that share a larger buffer, because the whole buffer would be transferred. */
const ownMemory = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? (bytes as Uint8Array<ArrayBuffer>)
    : bytes.slice();
