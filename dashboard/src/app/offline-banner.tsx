import { useQueryClient } from "@tanstack/react-query";
import { Unplug } from "lucide-react";
import { useEffect, useRef } from "react";
import { retryConnection, useIsConnectionLost } from "../lib/connection.ts";
import { Button } from "../ui/forms/button.tsx";

/** Shown while the server is unreachable. When it is back, all shown data is refetched. */
export function OfflineBanner() {
  const lost = useIsConnectionLost();
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
          <Button size="sm" onClick={() => void retryConnection()}>
            Retry now
          </Button>
        </div>
      )}
    </div>
  );
}
