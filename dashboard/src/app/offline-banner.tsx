import { useQueryClient } from "@tanstack/react-query";
import { Unplug } from "lucide-react";
import { useEffect, useRef } from "react";
import { askAgain, useLost } from "../lib/connection.ts";
import { Button } from "../ui/button.tsx";

/** Says that the server does not answer, for as long as it does not. When it is back, all that is shown is read anew. */
export function OfflineBanner() {
  const lost = useLost();
  const wasLost = useRef(false);
  const client = useQueryClient();
  useEffect(() => {
    if (wasLost.current && !lost) void client.invalidateQueries();
    wasLost.current = lost;
  }, [lost, client]);
  return (
    <div role="alert">
      {lost && (
        <div className="enter flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn-line bg-warn-soft px-4 py-2 rail:px-5">
          <Unplug aria-hidden className="size-4 shrink-0 text-warn" strokeWidth={1.5} />
          <span className="min-w-0 flex-1">
            <b>The server does not respond.</b> It may be stopped, or the network is down. What you see may be out of
            date. Retrying every two seconds.
          </span>
          <Button size="sm" onClick={() => void askAgain()}>
            Retry now
          </Button>
        </div>
      )}
    </div>
  );
}
