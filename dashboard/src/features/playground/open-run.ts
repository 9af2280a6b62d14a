import { createParser } from "eventsource-parser";
import { isLastFrame } from "../../../../server/domain/api-types/frames.ts";
import type { WorkspaceKey } from "../../entities/crud/resource.ts";
import { followRun } from "../../entities/run/follow-run.ts";
import { ApiError, readApiError, resourceUrl, unreachable } from "../../lib/api.ts";
import { batchPerFrame, type Frame, type StreamState, toFrame } from "../../lib/events.ts";
import type { RunBody } from "./turn.ts";

export interface RunListener {
  /** Called with all frames that arrived since the last paint. */
  onFrames(frames: Frame[]): void;
  onState(state: StreamState): void;
  /** Called if the run was not created. */
  onRefused(error: ApiError): void;
}

/**
 * Starts a run and reads its event stream. If the connection breaks, resumes from the run's own stream after the last
 * event. Returns a function that stops reading; the run continues. The idempotency key prevents a second run.
 */
export function openRun(at: WorkspaceKey, body: RunBody, key: string, listener: RunListener): () => void {
  const abort = new AbortController();
  let stop = () => {};
  let isStopped = false;
  let runId: string | null = null;
  let lastId = "";
  let isOver = false;

  const batch = batchPerFrame(listener.onFrames);
  const take = (frame: Frame) => {
    if (frame.id) lastId = frame.id;
    if (typeof frame.data.run_id === "string") runId ??= frame.data.run_id;
    isOver ||= isLastFrame(frame.event);
    batch.push(frame);
  };
  // A hidden tab releases its connection, like every stream of the dashboard.
  const onVisibility = () => {
    if (document.hidden && runId) abort.abort();
  };
  const read = async () => {
    const response = await request(at, body, key, abort.signal);
    if (!response.ok) throw await readApiError(response);
    listener.onState("open");
    await readFrames(response, take);
  };
  document.addEventListener("visibilitychange", onVisibility);
  void read()
    .catch((error: unknown) => error)
    .then((error: unknown) => {
      document.removeEventListener("visibilitychange", onVisibility);
      if (isStopped) return;
      if (isOver) return listener.onState("ended");
      if (!runId) return listener.onRefused(error instanceof ApiError ? error : unreachable());
      const { onFrames, onState } = listener;
      stop = followRun(at, runId, { after: lastId || undefined, onFrames, onState });
    });
  return () => {
    isStopped = true;
    document.removeEventListener("visibilitychange", onVisibility);
    abort.abort();
    stop();
    batch.stop();
  };
}

function request(at: WorkspaceKey, body: RunBody, key: string, signal: AbortSignal): Promise<Response> {
  return fetch(resourceUrl(at, "/runs"), {
    method: "POST",
    credentials: "same-origin",
    signal,
    headers: {
      Accept: "text/event-stream",
      "Content-Type": "application/json",
      "X-Runnel-Console": "1",
      "Idempotency-Key": key,
    },
    body: JSON.stringify(body),
  });
}

async function readFrames(response: Response, onFrame: (frame: Frame) => void): Promise<void> {
  const parser = createParser({
    onEvent: ({ event, id, data }) => {
      const frame = toFrame(event ?? "message", { data, lastEventId: id ?? "" });
      if (frame) onFrame(frame);
    },
  });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
    parser.feed(decoder.decode(piece.value, { stream: true }));
}
