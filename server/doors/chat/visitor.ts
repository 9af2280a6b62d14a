import { randomToken } from "../../lib/random-token.ts";
import type { Seal } from "../../lib/seal.ts";

const name = "runnel_visitor";
const month_seconds = 30 * 24 * 3600;

/** Somebody at a chat page whom nobody has to know: the same for a month, in the browser that keeps the cookie. */
interface Visitor {
  user_id: string;
  /** What makes the browser keep it; null where it does. */
  cookie: string | null;
}

/** Who visits an agent's page. The cookie goes to that page alone, and is sealed: one that was made up is nobody's. */
export function visitorOf({ headers }: Request, seal: Seal, agentId: string, secure: boolean): Visitor {
  const context = `chat_visitor/${agentId}`;
  const [, kept] = new RegExp(`(?:^|; *)${name}=([\\w.-]{1,200})(?:;|$)`).exec(headers.get("cookie") ?? "") ?? [];
  if (kept) {
    try {
      return { user_id: seal.open(kept, context), cookie: null };
    } catch {} // Whoever made it did not do so here: they are new.
  }
  const user_id = `visitor_${randomToken().slice(0, 24)}`;
  const attributes = `Path=/chat/${agentId}; HttpOnly; SameSite=Strict; Max-Age=${month_seconds}${secure ? "; Secure" : ""}`;
  return { user_id, cookie: `${name}=${seal.seal(user_id, context)}; ${attributes}` };
}
