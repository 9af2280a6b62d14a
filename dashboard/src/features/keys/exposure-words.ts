import type { ApiKey } from "../../../../server/wire/key.ts";
import { keyState } from "./key-state.ts";

/** What a key in clear text means, and what became of the key: behind the sentence that says when it was sent. */
export function exposureWords(key: ApiKey, now: number): string {
  const risk =
    key.exposure === "local"
      ? "It came from the server's own machine, so no network carried it."
      : "Someone on the network may have read it.";
  if (key.revoked_at) return `${risk} It has been revoked since. Create another one, and check what was done with it.`;
  const kept = key.exposure === "last_admin_key" ? " It was not revoked, because it was the last admin key." : "";
  const works = keyState(key, now) === "rotating" ? "It still works until its overlap ends." : "It still works.";
  return `${risk}${kept} ${works}`;
}
