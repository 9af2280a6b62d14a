import { type Cookie, cookieOf } from "../../http/cookie.ts";
import { randomToken } from "../../lib/random-token.ts";

/** Cookie of a browser in which a user consents: it ties the way back to the browser that left (RFC 9700, 4.7.1). */
export interface BrowserCookie {
  /** Returns the value that the browser has; null if it has none. */
  read(request: Request): string | null;
  /** Returns the header that sets a value, for ten minutes from now. */
  header(value: string, request: Request): { "set-cookie": string };
  /** Returns a new value of 256 bits. */
  create(): string;
}

export function browserCookie(publicUrl: () => string): BrowserCookie {
  const of = (secure: boolean): Cookie =>
    cookieOf({ name: secure ? "__Host-runnel-oauth" : "runnel_oauth", secure, seconds: 600, path: "/oauth" });
  const [plain, secure] = [of(false), of(true)];
  // The address may change while the server runs.
  const cookie = () => (publicUrl().startsWith("https:") ? secure : plain);
  return {
    read(request) {
      const value = cookie().read(request);
      return value !== null && /^[\w-]{43}$/.test(value) ? value : null;
    },
    header: (value, request) => ({ "set-cookie": cookie().set(value, request) }),
    create: randomToken,
  };
}
