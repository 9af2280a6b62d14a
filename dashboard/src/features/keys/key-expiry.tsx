import { clsx } from "clsx";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { formatDay } from "../../lib/format.ts";
import { Until } from "../../ui/until.tsx";
import { isExpiring } from "./find-keys.ts";
import { keyState } from "./key-state.ts";

/** When a key ends, or ended. */
export function KeyExpiry({ apiKey, now }: { apiKey: ApiKey; now: number }) {
  const state = keyState(apiKey, now);
  if (state === "revoked") return <>Revoked {apiKey.revoked_at && formatDay(apiKey.revoked_at)}</>;
  if (state === "expired") return <>Expired {apiKey.expires_at && formatDay(apiKey.expires_at)}</>;
  if (!apiKey.expires_at) return <>Never</>;
  return (
    <span className={clsx(isExpiring(apiKey, now) && "font-strong text-warn")}>
      <Until at={apiKey.expires_at} />
    </span>
  );
}
