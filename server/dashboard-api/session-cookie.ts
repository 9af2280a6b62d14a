import { type Cookie, cookieOf } from "../http/cookie.ts";

/** Session cookie. */
export type SessionCookie = Cookie;

/** Cookie that lasts for the minutes of a sign-in. */
export type ShortCookie = Cookie;

const week_seconds = 7 * 24 * 3600;

/** `byPort`: for servers of one machine, where signing in to one would sign out of another. */
export const sessionCookie = ({ secure, byPort = false }: { secure: boolean; byPort?: boolean }): SessionCookie =>
  cookieOf({ name: secure ? "__Host-runnel" : "runnel_session", secure, seconds: week_seconds, byPort });

export const attemptCookie = ({ secure }: { secure: boolean }): ShortCookie =>
  cookieOf({ name: secure ? "__Host-runnel-oidc" : "runnel_oidc", secure, seconds: 600 });
