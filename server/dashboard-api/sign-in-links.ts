import { Elysia } from "elysia";
import { randomToken } from "../lib/random-token.ts";
import type { Origin, User } from "./accounts.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const validFor_ms = 30 * 60_000;

/** One-time links that sign a person in without a password. */
export type SignInLinks = ReturnType<typeof createSignInLinks>;

/**
 * Keeps the newest link in memory, so that a restart voids it. For `runnel dev`: only the person at this machine reads
 * its terminal.
 */
export function createSignInLinks({ now = Date.now }: { now?: () => number } = {}) {
  let newest: { hash: Uint8Array; user: User; expires_at_ms: number } | null = null;
  return {
    /** Returns a token and voids the one before. */
    issue(user: User): string {
      const token = randomToken();
      newest = { hash: sha256Bytes(token), user, expires_at_ms: now() + validFor_ms };
      return token;
    },

    /** Returns the person, once; null for any other token. */
    redeem(token: string): User | null {
      if (!newest || newest.expires_at_ms <= now() || Buffer.compare(newest.hash, sha256Bytes(token)) !== 0)
        return null;
      const { user } = newest;
      newest = null;
      return user;
    },
  };
}

const path = "/console/api/sign_in_link";

/** Address of a link that signs in. It is opened by a browser, so that its token is in the path. */
export const signInLink = (address: string, token: string): string => `${address}${path}/${token}`;

interface SignInLinkRoutes {
  links: SignInLinks;
  openSession(user: User, origin: Origin, request: Request): Promise<string>;
  originOfVisitor(request: Request, headers: Record<string, string | number>): Origin;
}

/** The route that opens a session for a link, and leads to the dashboard. */
export const signInLinkRoutes = ({ links, openSession, originOfVisitor }: SignInLinkRoutes) =>
  new Elysia().get(`${path}/:token`, async ({ params, request, set }) => {
    const user = links.redeem(params.token);
    const headers = new Headers({ "cache-control": "no-store", location: "/dashboard" });
    if (user) {
      const origin = originOfVisitor(request, set.headers as Record<string, string | number>);
      headers.append("set-cookie", await openSession(user, origin, request));
    } else headers.set("location", "/dashboard/login?refused=link");
    return new Response(null, { status: 303, headers });
  });
