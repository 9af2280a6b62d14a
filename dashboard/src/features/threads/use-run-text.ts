import { useEffect, useState } from "react";
import { emptyRunView, foldFrames, type RunView } from "../../../../server/wire/fold-frames.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { resourceUrl } from "../../lib/api.ts";
import { type Frame, followEvents } from "../../lib/events.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** What a run says, as it says it: painted once per frame at most. A queued one says nothing yet. */
export function useRunText({ id: runId, status }: Pick<Run, "id" | "status">): RunView {
  const { projectId, mode } = useWorkspace();
  const [view, setView] = useState(emptyRunView);
  const hasBegun = status !== "queued";
  useEffect(() => {
    if (!hasBegun) return;
    let frames: Frame[] = [];
    let paint = 0;
    const flush = () => {
      paint = 0;
      const batch = frames;
      frames = [];
      setView((before) => foldFrames(before, batch));
    };
    const stop = followEvents({
      url: resourceUrl({ projectId, mode }, `/runs/${encodeURIComponent(runId)}/events`),
      onFrame: (frame) => {
        frames.push(frame);
        paint ||= requestAnimationFrame(flush);
      },
      onState: () => {},
    });
    return () => {
      cancelAnimationFrame(paint);
      stop();
    };
  }, [projectId, mode, runId, hasBegun]);
  return view;
}
