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
export const followRun = (at: WorkspaceKey, id: string, reader: RunReader): (() => void) =>
  followEvents({ ...reader, url: runApi.url(at, id, "/events") });
