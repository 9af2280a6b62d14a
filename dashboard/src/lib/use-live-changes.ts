import { useEffect, useRef, useState } from "react";
import { resourceUrl } from "./api.ts";
import { followStream, type StreamState } from "./events.ts";
import { useWorkspace } from "./workspace.ts";

const gather_ms = 300;

/** Calls back when runs of this project and mode change, at most a few times a second. Says how the connection is. */
export function useLiveChanges(onChange: () => void): StreamState {
  const { projectId, mode } = useWorkspace();
  const [stream, setStream] = useState<StreamState>("connecting");
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let opened = false;
    const tell = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current();
      }, gather_ms);
    };
    const stop = followStream({
      url: resourceUrl({ projectId, mode }, "/runs/live"),
      events: ["run"],
      onFrame: tell,
      onState: (state) => {
        setStream(state);
        // This stream has no past: what changed while it was away is read anew.
        if (state === "open" && opened) tell();
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
