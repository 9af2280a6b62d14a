import { frameNames } from "../../../server/domain/api-types/enums.ts";
import type { RunFrame } from "../../../server/domain/api-types/events.ts";
import { isLastFrame } from "../../../server/domain/api-types/frames.ts";
import { parseExact } from "../../../server/lib/exact-numbers.ts";
import { query } from "./api.ts";

/** One event of a run; `id` is `<seq>`, or `<seq>.<offset>` for a delta. */
export type Frame = RunFrame & { id: string };

/** `waiting`: closed while the tab is hidden. `lost`: reconnecting. `ended`: complete. */
export type StreamState = "connecting" | "open" | "lost" | "waiting" | "ended";

interface StreamOptions<Each> {
  url: string;
  /** Event id to start after; absent for the first event. */
  after?: string;
  /** EventSource delivers a named event only to listeners of that name. */
  events: readonly string[];
  /** Returns true if the stream ends after this event. */
  isLast?(event: string): boolean;
  onFrame(frame: Each): void;
  onState(state: StreamState): void;
  /** Called if the server refused the stream (signed out, deleted, busy). It is retried anyway. */
  onRefused?(): void;
}

interface EventsOptions extends Omit<StreamOptions<Frame>, "events" | "isLast" | "onFrame"> {
  /** Called with all frames that arrived since the last paint. */
  onFrames(frames: Frame[]): void;
}

/** Streams all events of a run until its end. Returns a function that stops it. */
export function followEvents({ onFrames, ...options }: EventsOptions): () => void {
  const batch = batchPerFrame(onFrames);
  const stop = followStream<Frame>({ ...options, onFrame: batch.push, events: frameNames, isLast: isLastFrame });
  return () => {
    stop();
    batch.stop();
  };
}

/**
 * Follows a server-sent stream until a terminal event; returns a function that stops it. The browser reconnects by
 * itself with `Last-Event-ID`; after a refusal, on which it gives up, the stream is reopened after the last id.
 */
export function followStream<Each extends { id: string }>(options: StreamOptions<Each>): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = options.after ?? "";
  let refusals = 0;
  let hasEnded = false;

  const open = () => {
    clearTimeout(timer);
    options.onState(refusals ? "lost" : "connecting");
    const current = new EventSource(resumeUrl(options.url, lastId));
    source = current;
    current.onopen = () => {
      refusals = 0;
      options.onState("open");
    };
    current.onerror = () => {
      options.onState("lost");
      if (current.readyState !== EventSource.CLOSED) return;
      void isPastEnd(current.url).then((isPast) => {
        if (source !== current) return;
        if (isPast) return stop("ended");
        options.onRefused?.();
        timer = setTimeout(open, retryDelay(refusals++));
      });
    };
    for (const event of options.events) {
      current.addEventListener(event, (message) => {
        const frame = toFrame<Each>(event, message);
        if (!frame) return;
        if (frame.id) lastId = frame.id;
        options.onFrame(frame);
        if (options.isLast?.(event)) stop("ended");
      });
    }
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  // Browsers allow six connections per HTTP/1.1 host: seven background tabs would block the dashboard.
  const onVisibility = () => {
    if (hasEnded) return;
    close();
    if (document.hidden) options.onState("waiting");
    else open();
  };
  const stop = (state?: StreamState) => {
    hasEnded = true;
    close();
    document.removeEventListener("visibilitychange", onVisibility);
    if (state) options.onState(state);
  };

  document.addEventListener("visibilitychange", onVisibility);
  if (document.hidden) options.onState("waiting");
  else open();
  return () => stop();
}

/** True if the stream is complete (204), which EventSource reports as a failure. */
const isPastEnd = (url: string): Promise<boolean> =>
  fetch(url, { method: "HEAD", headers: { Accept: "text/event-stream", "X-Runnel-Unattended": "1" } }).then(
    ({ status }) => status === 204,
    () => false,
  );

/** Address that resumes after `lastId`; the stream's own address before the first event. */
export function resumeUrl(url: string, lastId: string): string {
  return lastId ? url + query({ starting_after: lastId }) : url;
}

/** Delay of 2 s, 4 s, 8 s … at most 30 s. */
export function retryDelay(refusals: number): number {
  return Math.min(2000 * 2 ** refusals, 30_000);
}

/** Parses a frame; null if the data is no JSON object, so that a broken line does not crash the page. */
export function toFrame<Each = Frame>(event: string, message: { data: string; lastEventId: string }): Each | null {
  try {
    const data: unknown = parseExact(message.data);
    if (typeof data !== "object" || data === null) return null;
    return { id: message.lastEventId, event, data } as Each;
  } catch {
    return null;
  }
}

/** Interval in milliseconds at which a hidden page, which paints no frames, delivers items. */
const hidden_ms = 100;

/** Batches items and delivers them once per animation frame. */
export function batchPerFrame<T>(take: (items: T[]) => void): { push: (item: T) => void; stop: () => void } {
  let items: T[] = [];
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisibility);
    frame = timer = undefined;
  };
  const flush = () => {
    stop();
    const gathered = items;
    items = [];
    take(gathered);
  };
  // A page hidden meanwhile paints no frame until it is visible again.
  const onVisibility = () => {
    if (document.hidden) flush();
  };
  return {
    push(item) {
      items.push(item);
      if (frame !== undefined || timer !== undefined) return;
      if (document.hidden) {
        timer = setTimeout(flush, hidden_ms);
      } else {
        frame = requestAnimationFrame(flush);
        document.addEventListener("visibilitychange", onVisibility);
      }
    },
    stop,
  };
}
