export type Cookie = ReturnType<typeof cookieOf>;

interface CookieOptions {
  name: string;
  secure: boolean;
  seconds: number;
  /** Over plain HTTP only: the `__Host-` prefix demands `/`. */
  path?: string;
}

/**
 * Returns a cookie that scripts cannot read and other sites cannot send with a form. Over HTTPS the `__Host-` prefix of
 * its name makes browsers refuse a copy set by a neighbouring subdomain or over plain HTTP.
 */
export function cookieOf({ name, secure, seconds, path = "/" }: CookieOptions) {
  const attributes = `; Path=${secure ? "/" : path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return {
    name,
    set: (token: string): string => `${name}=${token}${attributes}; Max-Age=${seconds}`,
    clear: (): string => `${name}=${attributes}; Max-Age=0`,
    read(request: Request): string | null {
      const pairs = (request.headers.get("cookie") ?? "").split(/;\s*/);
      const pair = pairs.find((text) => text.startsWith(`${name}=`));
      return pair?.slice(name.length + 1) || null;
    },
  };
}
