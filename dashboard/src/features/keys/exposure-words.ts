import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { keyState } from "./key-state.ts";

/** Returns the risk of a key that was sent in clear text, and the state of the key. */
export function exposureWords(key: ApiKey, now: number): string {
  const risk =
    key.exposure === "local"
      ? "It came from the server's own machine, so no network carried it."
      : "Someone on the network may have read it.";
  if (key.revoked_at) return `${risk} It has been revoked since. Create another one, and check what was done with it.`;
  const keptNote = key.exposure === "last_admin_key" ? " It was not revoked, because it was the last admin key." : "";
  const stateNote = keyState(key, now) === "rotating" ? "It still works until its overlap ends." : "It still works.";
  return `${risk}${keptNote} ${stateNote}`;
}
