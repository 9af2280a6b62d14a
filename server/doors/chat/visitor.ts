import { randomToken } from "../../lib/random-token.ts";

const name = "runnel_visitor";
const month_seconds = 30 * 24 * 3600;

/** Somebody at a chat page whom nobody has to know: the same for a month, in the browser that keeps the cookie. */
interface Visitor {
  user_id: string;
  /** What makes the browser keep it; null where it does. */
  cookie: string | null;
}

/** Who visits an agent's page. The cookie goes to that page alone, and what is stored of it opens nothing. */
export function visitorOf({ headers }: Request, agentId: string, secure: boolean): Visitor {
  const [, known] = new RegExp(`(?:^|; *)${name}=([\\w-]{43})(?:;|$)`).exec(headers.get("cookie") ?? "") ?? [];
  const token = known ?? randomToken();
  const digest = new Bun.CryptoHasher("sha256").update(`${agentId}/${token}`).digest("base64url");
  const attributes = `Path=/chat/${agentId}; HttpOnly; SameSite=Strict; Max-Age=${month_seconds}${secure ? "; Secure" : ""}`;
  return { user_id: `visitor_${digest.slice(0, 24)}`, cookie: known ? null : `${name}=${token}; ${attributes}` };
}
