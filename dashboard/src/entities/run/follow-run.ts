import { type Frame, followEvents, type StreamState } from "../../lib/events.ts";
import { perFrame } from "../../lib/per-frame.ts";
import type { At } from "../resource/resource.ts";
import { runApi } from "./run-api.ts";

interface RunReader {
  /** Begins behind this event instead of at the first. */
  after?: string;
  onFrames: (frames: Frame[]) => void;
  onState: (state: StreamState) => void;
  onRefused?: () => void;
}

/** Reads the events of a run as they come, painting at most once per frame of the screen. Returns what stops it. */
export function followRun(at: At, id: string, { onFrames, ...rest }: RunReader): () => void {
  const painted = perFrame(onFrames);
  const stop = followEvents({ ...rest, url: runApi.url(at, id, "/events"), onFrame: painted.push });
  return () => {
    stop();
    painted.stop();
  };
}
