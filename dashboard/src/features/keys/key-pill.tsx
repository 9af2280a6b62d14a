import { clsx } from "clsx";
import { Check, Clock, RefreshCw, TriangleAlert, X } from "lucide-react";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { useNow } from "../../lib/use-now.ts";
import { type Look, LookPill } from "../../ui/pill.tsx";
import { countdown } from "./countdown.ts";
import { isExposed, type KeyState, keyState } from "./key-state.ts";

const looks: Record<KeyState, Look> = {
  active: ["ok", Check, "Active"],
  rotating: ["warn", RefreshCw, "Rotating"],
  exposed: ["bad", TriangleAlert, "Exposed"],
  revoked: ["plain", X, "Revoked"],
  expired: ["plain", Clock, "Expired"],
};

/** How a key stands; while its overlap lasts, with what is left of it. One that is exposed is called so before all else. */
export function KeyPill({ apiKey, inLine = false }: { apiKey: ApiKey; inLine?: boolean }) {
  const isRotating = apiKey.status === "rotating" && !apiKey.revoked_at;
  const now = useNow(isRotating);
  const state = keyState(apiKey, now);
  return (
    <span className={clsx("inline-flex flex-wrap items-center gap-x-2", !inLine && "rail:flex-col rail:items-start")}>
      <LookPill look={looks[isExposed(apiKey, now) ? "exposed" : state]} />
      {state === "rotating" && apiKey.expires_at && (
        // A countdown that spoke every second would silence all else: its end is announced by the list.
        <span className="text-xs whitespace-nowrap text-muted">
          Works for <b className="tabular-nums">{countdown(Date.parse(apiKey.expires_at) - now)}</b>
        </span>
      )}
    </span>
  );
}
