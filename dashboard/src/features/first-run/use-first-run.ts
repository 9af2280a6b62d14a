import { useCallback, useEffect, useState } from "react";
import { resourceUrl } from "../../lib/api.ts";
import { followStream } from "../../lib/events.ts";
import { emptyRunView, foldRunEvents } from "../../lib/fold-run-events.ts";
import { type Frame, type Run, runEvents, terminalEvents } from "../../lib/types.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { startRun } from "./first-run-api.ts";

/** Starts a run and reads its stream as it comes. */
export function useFirstRun() {
  const at = useWorkspace();
  const [run, setRun] = useState<Run | null>(null);
  const [frames, setFrames] = useState<Frame[]>([]);
  const [view, setView] = useState(emptyRunView);
  const [error, setError] = useState<Error | null>(null);
  const [isStarting, setIsStarting] = useState(false);

  useEffect(() => {
    if (!run) return;
    return followStream({
      url: resourceUrl(at, `/runs/${encodeURIComponent(run.id)}/events`),
      events: runEvents,
      terminal: terminalEvents,
      onFrame: (frame) => {
        setFrames((before) => [...before, frame]);
        setView((before) => foldRunEvents(before, [frame]));
      },
      onState: () => {},
    });
  }, [at, run]);

  const start = useCallback(
    async (agentId: string, input: string) => {
      setIsStarting(true);
      setError(null);
      try {
        const started = await startRun(at, agentId, input);
        setFrames([]);
        setView(emptyRunView);
        setRun(started);
      } catch (cause) {
        setError(cause instanceof Error ? cause : new Error(String(cause)));
      } finally {
        setIsStarting(false);
      }
    },
    [at],
  );
  return { run, frames, view, error, isStarting, start };
}
