import { randomToken } from "../../lib/random-token.ts";
import type { Seal } from "../../lib/seal.ts";

const name = "runnel_visitor";
const month_seconds = 30 * 24 * 3600;

/** An anonymous visitor of a chat page: the same for a month in a browser that keeps the cookie. */
interface Visitor {
  user_id: string;
  /** Cookie to set; null if the browser has it. */
  cookie: string | null;
}

/**
 * Returns the visitor of an agent's page. The cookie is sealed and limited to that page, so a forged one is ignored.
 */
export function visitorOf({ headers }: Request, seal: Seal, agentId: string, secure: boolean): Visitor {
  const context = `chat_visitor/${agentId}`;
  const [, kept] = new RegExp(`(?:^|; *)${name}=([\\w.-]{1,200})(?:;|$)`).exec(headers.get("cookie") ?? "") ?? [];
  if (kept) {
    try {
      return { user_id: seal.open(kept, context), cookie: null };
    } catch {} // The cookie was not made here: a new visitor.
  }
  const user_id = `visitor_${randomToken().slice(0, 24)}`;
  const attributes = `Path=/chat/${agentId}; HttpOnly; SameSite=Strict; Max-Age=${month_seconds}${secure ? "; Secure" : ""}`;
  return { user_id, cookie: `${name}=${seal.seal(user_id, context)}; ${attributes}` };
}
