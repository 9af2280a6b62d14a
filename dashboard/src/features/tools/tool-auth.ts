import type { CommonDraft } from "./types/tool-part.ts";

/** Choice of a client that is discovered and registered. */
export const discovered = "discovered";

/** Converts the choice to the API's field. A choice of discovery stays in the form when the type changes. */
export function readAuth({ auth, auth_per_user }: Pick<CommonDraft, "auth" | "auth_per_user">, canDiscover = false) {
  if (auth === "" || (auth === discovered && !canDiscover)) return null;
  return auth === discovered
    ? { type: "oauth", ...(auth_per_user && { per_user: true }) }
    : { type: "oauth", oauth_client_id: auth };
}
