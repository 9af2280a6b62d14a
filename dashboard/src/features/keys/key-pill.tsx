import { clsx } from "clsx";
import { Check, Clock, RefreshCw, TriangleAlert, X } from "lucide-react";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { useNow } from "../../hooks/use-now.ts";
import { type Look, LookPill } from "../../ui/data/pill.tsx";
import { isExposed, type KeyState, keyState } from "./key-state.ts";

const looks: Record<KeyState, Look> = {
  active: ["ok", Check, "Active"],
  rotating: ["warn", RefreshCw, "Rotating"],
  exposed: ["bad", TriangleAlert, "Exposed"],
  revoked: ["plain", X, "Revoked"],
  expired: ["plain", Clock, "Expired"],
};

/** The state of a key, with a countdown during an overlap. A key that works and is exposed is shown as exposed. */
export function KeyPill({ apiKey, inLine = false }: { apiKey: ApiKey; inLine?: boolean }) {
  const isRotating = apiKey.status === "rotating" && !apiKey.revoked_at;
  const now = useNow(isRotating);
  const state = keyState(apiKey, now);
  return (
    <span className={clsx("inline-flex flex-wrap items-center gap-x-2", !inLine && "rail:flex-col rail:items-start")}>
      <LookPill look={looks[isExposed(apiKey, now) ? "exposed" : state]} />
      {state === "rotating" && apiKey.expires_at && (
        // Not a live region: an announcement every second would drown out all others. The list announces the end.
        <span className="text-xs whitespace-nowrap text-muted">
          Works for <b className="tabular-nums">{countdown(Date.parse(apiKey.expires_at) - now)}</b>
        </span>
      )}
    </span>
  );
}

/** Returns the remaining time to the second: `21:14:09`, `6 d 23:59:08`. */
export function countdown(ms: number): string {
  const remaining_s = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = `${two(Math.floor(remaining_s / 3600) % 24)}:${two(Math.floor(remaining_s / 60) % 60)}:${two(remaining_s % 60)}`;
  const days = Math.floor(remaining_s / 86_400);
  return days > 0 ? `${days} d ${clock}` : clock;
}
