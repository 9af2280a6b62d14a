import { useEffect, useRef, useState } from "react";
import { resourceUrl } from "../lib/api.ts";
import { followStream, type StreamState } from "../lib/events.ts";
import { useWorkspace } from "../lib/workspace.ts";

const gather_ms = 300;

/** Calls back when runs of this workspace change, throttled. Returns the state of the connection. */
export function useLiveChanges(onChange: () => void): StreamState {
  const { projectId, mode } = useWorkspace();
  const [stream, setStream] = useState<StreamState>("connecting");
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let opened = false;
    const notify = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current();
      }, gather_ms);
    };
    const stop = followStream({
      url: resourceUrl({ projectId, mode }, "/runs/live"),
      events: ["run"],
      onFrame: notify,
      onState: (state) => {
        setStream(state);
        // This stream cannot resume: refetch changes made during the disconnect.
        if (state === "open" && opened) notify();
        if (state === "open") opened = true;
      },
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [projectId, mode]);
  return stream;
}
