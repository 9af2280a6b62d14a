import { batchPerFrame } from "../../lib/animation-frame-batch.ts";
import { type Frame, followEvents, type StreamState } from "../../lib/events.ts";
import type { WorkspaceKey } from "../crud/resource.ts";
import { runApi } from "./run-api.ts";

interface RunReader {
  /** Event id to start after; absent for the first event. */
  after?: string;
  onFrames: (frames: Frame[]) => void;
  onState: (state: StreamState) => void;
  onRefused?: () => void;
}

/** Streams a run's events to `onFrames`, at most once per animation frame. Returns a function that stops it. */
export function followRun(at: WorkspaceKey, id: string, { onFrames, ...rest }: RunReader): () => void {
  const painted = batchPerFrame(onFrames);
  const stop = followEvents({ ...rest, url: runApi.url(at, id, "/events"), onFrame: painted.push });
  return () => {
    stop();
    painted.stop();
  };
}
