import { Elysia } from "elysia";
import { randomToken } from "../lib/random-token.ts";
import type { Origin, User } from "./accounts.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const validFor_ms = 30 * 60_000;

interface SignInLinksOptions {
  now?: () => number;
  onUsed?: () => void;
}

/** One-time links that sign a person in without a password. */
export type SignInLinks = ReturnType<typeof createSignInLinks>;

/**
 * Keeps the newest link in memory, so that a restart voids it. For `runnel dev`: only the person at this machine reads
 * its terminal. `onUsed` is called once the link has signed in.
 */
export function createSignInLinks({ now = Date.now, onUsed = () => {} }: SignInLinksOptions = {}) {
  let newest: { hash: Uint8Array; user: User; expires_at_ms: number } | null = null;

  function find(token: string) {
    const isIt = newest && newest.expires_at_ms > now() && Buffer.compare(newest.hash, sha256Bytes(token)) === 0;
    return isIt ? newest : null;
  }

  return {
    /** Returns a token and voids the one before. */
    issue(user: User): string {
      const token = randomToken();
      newest = { hash: sha256Bytes(token), user, expires_at_ms: now() + validFor_ms };
      return token;
    },

    /**
     * Calls `open` for the person of a token, once, and returns its result; null for any other token. If `open` fails,
     * the token stays valid.
     */
    async redeem<T>(token: string, open: (user: User) => Promise<T>): Promise<T | null> {
      const link = find(token);
      if (!link) return null;
      newest = null; // Of two requests at once, one signs in.
      try {
        const opened = await open(link.user);
        onUsed();
        return opened;
      } catch (error) {
        newest ??= link;
        throw error;
      }
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
    const headers = new Headers({ "cache-control": "no-store", location: "/dashboard" });
    const origin = originOfVisitor(request, set.headers as Record<string, string | number>);
    const cookie = await links.redeem(params.token, (user) => openSession(user, origin, request));
    if (cookie === null) headers.set("location", "/dashboard/login?refused=link");
    else headers.append("set-cookie", cookie);
    return new Response(null, { status: 303, headers });
  });
