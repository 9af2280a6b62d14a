import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { resourceUrl } from "../../lib/api.ts";
import { followStream, type StreamState } from "../../lib/events.ts";
import { type Frame, runEvents, terminalEvents } from "../../lib/types.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { emptyRunView, foldRunEvents, type RunView } from "./fns/fold-run-events.ts";
import { runQuery } from "./runs-api.ts";

/** Follows a run's stream from its first event to its last, painting at most once per frame of the screen. */
export function useRunEvents(id: string, enabled: boolean): { view: RunView; stream: StreamState } {
  const at = useWorkspace();
  const client = useQueryClient();
  const [view, setView] = useState<RunView>(emptyRunView);
  const [stream, setStream] = useState<StreamState>("connecting");

  useEffect(() => {
    if (!enabled) return;
    setView(emptyRunView);
    let buffer: Frame[] = [];
    let painting = 0;
    const paint = () => {
      painting = 0;
      const frames = buffer;
      buffer = [];
      setView((current) => foldRunEvents(current, frames));
      // The run's own facts (usage, what it waits for) change with its events, never with its text.
      if (frames.some((frame) => frame.event.startsWith("run.") || frame.event === "step.completed"))
        void client.invalidateQueries({ queryKey: runQuery(at, id).queryKey });
    };
    const stop = followStream({
      url: resourceUrl(at, `/runs/${encodeURIComponent(id)}/events`),
      events: runEvents,
      terminal: terminalEvents,
      onFrame: (frame) => {
        buffer.push(frame);
        painting ||= requestAnimationFrame(paint);
      },
      onState: setStream,
      onRefused: () => void client.invalidateQueries({ queryKey: ["session"] }),
    });
    return () => {
      stop();
      cancelAnimationFrame(painting);
    };
  }, [at, client, enabled, id]);

  return { view, stream };
}
