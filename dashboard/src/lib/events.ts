import { parseExact } from "../../../server/lib/exact-numbers.ts";
import type { RunFrame } from "../../../server/wire/events.ts";
import { isLastFrame } from "../../../server/wire/frames.ts";
import { frameNames } from "../../../server/wire/names.ts";
import { query } from "./api.ts";

/** One event of a run as it arrived: `id` is `<seq>`, or `<seq>.<offset>` for a piece of text. */
export type Frame = RunFrame & { id: string };

/** `waiting`: the tab is hidden and its connection given back. `lost`: being tried again. `ended`: nothing more comes. */
export type StreamState = "connecting" | "open" | "lost" | "waiting" | "ended";

interface StreamOptions<Each> {
  url: string;
  /** Begins behind the frame with this id instead of at the first. */
  after?: string;
  /** A browser hears a named event only if it listens for that name. */
  events: readonly string[];
  /** Whether the stream is closed for good after this event. */
  isLast?(event: string): boolean;
  onFrame(frame: Each): void;
  onState(state: StreamState): void;
  /** The server refused the stream (signed out, gone, busy). It is tried again all the same. */
  onRefused?(): void;
}

/** Follows a run: all its events, to its end. */
export const followEvents = (options: Omit<StreamOptions<Frame>, "events" | "isLast">): (() => void) =>
  followStream<Frame>({ ...options, events: frameNames, isLast: isLastFrame });

/**
 * Follows a server-sent stream until a terminal event, and returns what stops it. The browser resumes dropped
 * connections itself with `Last-Event-ID`; refusals, which it gives up on, are tried again from the last id.
 */
export function followStream<Each extends { id: string }>(options: StreamOptions<Each>): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = options.after ?? "";
  let refusals = 0;
  let ended = false;

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
  // A browser has six connections to a plain HTTP/1.1 host: seven background tabs would stop the dashboard.
  const onVisibility = () => {
    if (ended) return;
    close();
    if (document.hidden) options.onState("waiting");
    else open();
  };
  const stop = (state?: StreamState) => {
    ended = true;
    close();
    document.removeEventListener("visibilitychange", onVisibility);
    if (state) options.onState(state);
  };

  document.addEventListener("visibilitychange", onVisibility);
  if (document.hidden) options.onState("waiting");
  else open();
  return () => stop();
}

/** Whether the reader has had all that comes: a browser's reader takes the 204 that says so for a refusal. */
const isPastEnd = (url: string): Promise<boolean> =>
  fetch(url, { method: "HEAD", headers: { Accept: "text/event-stream", "X-Runnel-Unattended": "1" } }).then(
    ({ status }) => status === 204,
    () => false,
  );

/** The address that continues after `lastId`; the stream's own address when nothing came yet. */
export function resumeUrl(url: string, lastId: string): string {
  return lastId ? url + query({ starting_after: lastId }) : url;
}

/** 2 s, 4 s, 8 s … 30 s at most. */
export function retryDelay(refusals: number): number {
  return Math.min(2000 * 2 ** refusals, 30_000);
}

/** A frame, or null for data that is no JSON object: a broken line must not end the page. */
export function toFrame<Each = Frame>(event: string, message: { data: string; lastEventId: string }): Each | null {
  try {
    const data: unknown = parseExact(message.data);
    if (typeof data !== "object" || data === null) return null;
    return { id: message.lastEventId, event, data } as Each;
  } catch {
    return null;
  }
}
