import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { emptyRunView, foldFrames, type RunView } from "../../../../server/domain/api-types/run-view.ts";
import { followRun } from "../../entities/run/follow-run.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { streamStart, traceQuery } from "../../entities/run/trace-api.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import type { StreamState } from "../../lib/events.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { throttle } from "./paced.ts";

const rest_ms = 150;

/**
 * Follows an unfinished run: streams text, at most one update per animation frame, and refetches the trace after
 * events.
 */
export function useLive(id: string, active: boolean): { live: RunView; stream: StreamState } {
  const at = useWorkspace();
  const client = useQueryClient();
  const [live, setLive] = useState<RunView>(emptyRunView);
  const [stream, setStream] = useState<StreamState>("connecting");

  useEffect(() => {
    if (!active) return;
    const abort = new AbortController();
    let stop = () => {};
    const trace = throttle(
      () => client.refetchQueries({ queryKey: traceQuery(at, id).queryKey, exact: true }),
      rest_ms,
    );
    const run = throttle(() => client.refetchQueries({ queryKey: runQuery(at, id).queryKey, exact: true }), rest_ms);
    const follow = (after: number) => {
      stop = followRun(at, id, {
        after: after > 0 ? String(after) : undefined,
        onFrames: (frames) => {
          setLive((view) => foldFrames(view, frames));
          if (frames.some(({ event }) => event !== "token")) trace.ask();
          if (frames.some(({ event }) => event.startsWith("run."))) run.ask();
        },
        onState: (state) => {
          setStream(state);
          if (state !== "ended") return;
          trace.ask(); // It may have ended before the stream was open.
          run.ask();
        },
        onRefused: () => void client.invalidateQueries(sessionQuery),
      });
    };
    const cachedTrace = client.getQueryData(traceQuery(at, id).queryKey);
    // If the start is unknown, the stream replays all events.
    void (cachedTrace ? streamStart(at, id, cachedTrace, abort.signal).catch(() => 0) : Promise.resolve(0)).then(
      (after) => {
        if (!abort.signal.aborted) follow(after);
      },
    );
    return () => {
      abort.abort();
      stop();
      trace.stop();
      run.stop();
    };
  }, [at, client, active, id]);

  return { live, stream: active ? stream : "ended" };
}
