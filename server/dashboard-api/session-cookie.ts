import { type Cookie, cookieOf } from "../http/cookie.ts";

/** Session cookie. */
export type SessionCookie = Cookie;

/** Cookie that lasts for the minutes of a sign-in. */
export type ShortCookie = Cookie;

const week_seconds = 7 * 24 * 3600;

export const sessionCookie = ({ secure }: { secure: boolean }): SessionCookie =>
  cookieOf({ name: secure ? "__Host-runnel" : "runnel_session", secure, seconds: week_seconds });

export const attemptCookie = ({ secure }: { secure: boolean }): ShortCookie =>
  cookieOf({ name: secure ? "__Host-runnel-oidc" : "runnel_oidc", secure, seconds: 600 });
