import { type Frame, isLastFrame } from "../domain/api-types/frames.ts";
import type { TextSource } from "../lib/sse.ts";
import type { EventEncoder } from "../runs/stream/stream.ts";

// In a chat, each message of the user has an answer of its own. If a run is at work when a message comes, its answer so
// far stays before the message, and what follows comes after it: the message's own stream continues the earlier one.

/** Encoder of a protocol whose streams may begin or end between two model calls of a run. */
export interface ChatEncoder extends EventEncoder {
  /** Begins the stream behind all that it has encoded so far: what follows answers the message. */
  begin(messageId: string): string;
  /** Ends the stream before its run. */
  finish(): string;
}

/** A stream of a run, which may begin and end between two model calls. */
export interface ChatStream {
  /** True if it ends before its run, where another stream begins. */
  isEnding(): boolean;
  /** Ends the stream where the first message after a journal position is answered. */
  endAfter(seq: number): void;
  /** Ends it with its run after all. */
  goOn(): void;
  encode(encoder: ChatEncoder): EventEncoder;
  /** Call when nobody reads it any more. If it has not begun, the streams before it go on. */
  leave(): void;
}

/**
 * `after`: journal position of the message with which the stream begins, behind `earlier` streams; null: it begins with
 * its first event.
 */
function createChatStream(after: number | null, earlier: readonly ChatStream[]): ChatStream {
  let begins = after === null ? null : messageAfter(after);
  let ends: ReturnType<typeof messageAfter> | null = null;
  let isOver = false;
  let isCalling = false;
  const unfinishedCalls = new Set<string>();
  for (const stream of earlier) stream.endAfter(after ?? 0);

  /** True if the conversation can be divided before this frame: no answer is open, and each call has its result. */
  const isBetween = (frame: Frame): boolean => beginsCall(frame) || (!isCalling && unfinishedCalls.size === 0);

  function note(frame: Frame): void {
    begins?.note(frame);
    ends?.note(frame);
    if (frame.event === "step.started" || frame.event === "step.completed")
      isCalling = frame.data.type === "model_call" ? frame.event === "step.started" : isCalling;
    if (frame.event === "tool.requested") unfinishedCalls.add(frame.data.tool_call_id);
    if (frame.event === "tool.completed") unfinishedCalls.delete(frame.data.tool_call_id);
  }

  function encode(encoder: ChatEncoder): EventEncoder {
    return {
      ...encoder,
      event(frame, answer) {
        if (isOver) return "";
        const isPlace = isBetween(frame);
        if (isPlace && ends?.id() && !isLastFrame(frame.event)) {
          isOver = true;
          return encoder.finish();
        }
        const begun = begins?.id();
        const isBeginning = begun && (isPlace || encoder.isLast(frame));
        const opening = isBeginning ? encoder.begin(begun) : "";
        if (isBeginning) begins = null;
        note(frame);
        const text = encoder.event(frame, answer);
        return begins ? "" : opening + text;
      },
      token(piece, of) {
        const text = isOver ? "" : encoder.token(piece, of);
        return begins ? "" : text;
      },
      isLast: (frame) => isOver || encoder.isLast(frame),
    };
  }

  const isEnding = () => ends !== null;
  return {
    encode,
    isEnding,
    endAfter(seq) {
      ends ??= messageAfter(seq);
    },
    goOn() {
      ends = null;
    },
    leave() {
      if (begins && !isEnding()) for (const stream of earlier) stream.goOn();
    },
  };
}

const beginsCall = ({ event, data }: Frame): boolean => event === "step.started" && data.type === "model_call";

/** Looks for the first message to a run after a journal position. */
function messageAfter(seq: number) {
  let id: string | null = null;
  return {
    note(frame: Frame): void {
      if (frame.event === "run.steered" && frame.seq > seq) id ??= frame.data.message_id;
    },
    id: () => id,
  };
}

/** The open streams of runs. */
export function createOpenStreams() {
  const open = new Map<string, Set<ChatStream>>();

  function remove(runId: string, stream: ChatStream): void {
    stream.leave();
    const streams = open.get(runId);
    streams?.delete(stream);
    if (streams?.size === 0) open.delete(runId);
  }

  return {
    isRead: (runId: string): boolean => open.has(runId),
    /** Opens a stream: of a whole run, or from the first message after a journal position, where the others end. */
    open(runId: string, after: number | null): ChatStream {
      const streams = open.get(runId) ?? new Set();
      const earlier = after === null ? [] : [...streams].filter((one) => !one.isEnding());
      const stream = createChatStream(after, earlier);
      open.set(runId, streams.add(stream));
      return stream;
    },
    remove,
    /** Removes the stream when its texts end. */
    until: ({ next, stop }: TextSource, runId: string, stream: ChatStream): TextSource => ({
      next,
      stop() {
        remove(runId, stream);
        stop();
      },
    }),
  };
}
