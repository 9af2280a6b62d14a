import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { emptyRunView, foldFrames } from "../../../../server/wire/fold-frames.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import { ApiError, resourceUrl } from "../../lib/api.ts";
import { type Frame, followEvents, type StreamState } from "../../lib/events.ts";
import { perFrame } from "../../lib/per-frame.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { startRun } from "./first-run-api.ts";

/** Starts a run and reads its stream as it comes, also over a connection that is lost and comes back. */
export function useFirstRun() {
  const at = useWorkspace();
  const client = useQueryClient();
  const [run, setRun] = useState<Run | null>(null);
  const [frames, setFrames] = useState<Frame[]>([]);
  const [view, setView] = useState(emptyRunView);
  const [stream, setStream] = useState<StreamState>("connecting");
  const [error, setError] = useState<Error | null>(null);
  const [isStarting, setIsStarting] = useState(false);
  const unanswered = useRef<{ agentId: string; input: string; key: string } | null>(null);

  useEffect(() => {
    if (!run) return;
    const painted = perFrame<Frame>((news) => {
      setFrames((before) => [...before, ...news]);
      setView((before) => foldFrames(before, news));
    });
    const stop = followEvents({
      url: resourceUrl(at, `/runs/${encodeURIComponent(run.id)}/events`),
      onFrame: painted.push,
      onState: setStream,
      onRefused: () => void client.invalidateQueries(sessionQuery),
    });
    return () => {
      stop();
      painted.stop();
    };
  }, [at, client, run]);

  const start = useCallback(
    async (agentId: string, input: string) => {
      setIsStarting(true);
      setError(null);
      const last = unanswered.current;
      const isSame = last?.agentId === agentId && last.input === input;
      const key = isSame ? last.key : crypto.randomUUID();
      try {
        const started = await startRun(at, agentId, input, key);
        setFrames([]);
        setView(emptyRunView);
        setStream("connecting");
        setRun(started);
        unanswered.current = null;
      } catch (cause) {
        // A run may have begun all the same: its key finds it. A refusal began nothing.
        const isUnanswered = cause instanceof ApiError && cause.code === "unreachable";
        unanswered.current = isUnanswered ? { agentId, input, key } : null;
        setError(cause instanceof Error ? cause : new Error(String(cause)));
      } finally {
        setIsStarting(false);
      }
    },
    [at],
  );
  return { run, frames, view, stream, error, isStarting, start };
}
