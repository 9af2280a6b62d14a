export type Cookie = ReturnType<typeof cookieOf>;

interface CookieOptions {
  name: string;
  secure: boolean;
  seconds: number;
  /** Over plain HTTP only: the `__Host-` prefix demands `/`. */
  path?: string;
  /** True: another cookie for each port. Browsers share the cookies of a host among its ports (RFC 6265, 8.5). */
  byPort?: boolean;
}

/**
 * Returns a cookie that scripts cannot read and other sites cannot send with a form. Over HTTPS the `__Host-` prefix of
 * its name makes browsers refuse a copy set by a neighbouring subdomain or over plain HTTP.
 */
export function cookieOf({ name, secure, seconds, path = "/", byPort = false }: CookieOptions) {
  const attributes = `; Path=${secure ? "/" : path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  const nameFor = ({ url }: Request): string => (byPort ? `${name}_${new URL(url).port || "80"}` : name);
  return {
    set: (token: string, request: Request): string => `${nameFor(request)}=${token}${attributes}; Max-Age=${seconds}`,
    clear: (request: Request): string => `${nameFor(request)}=${attributes}; Max-Age=0`,
    read(request: Request): string | null {
      const start = `${nameFor(request)}=`;
      const pairs = (request.headers.get("cookie") ?? "").split(/;\s*/);
      return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) || null;
    },
  };
}
