import { clsx } from "clsx";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { formatDay } from "../../lib/format.ts";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { isExpiring } from "./find-keys.ts";
import { keyState } from "./key-state.ts";

/** The time at which a key expires, expired or was revoked. */
export function KeyExpiry({ apiKey, now }: { apiKey: ApiKey; now: number }) {
  const state = keyState(apiKey, now);
  if (state === "revoked") return <>Revoked {apiKey.revoked_at && formatDay(apiKey.revoked_at)}</>;
  if (state === "expired") return <>Expired {apiKey.expires_at && formatDay(apiKey.expires_at)}</>;
  if (!apiKey.expires_at) return <>Never</>;
  return (
    <span className={clsx(isExpiring(apiKey, now) && "font-strong text-warn")}>
      <RelativeTime at={apiKey.expires_at} />
    </span>
  );
}
