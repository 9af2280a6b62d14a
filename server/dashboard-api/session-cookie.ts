/** Session cookie. */
export type SessionCookie = ReturnType<typeof sessionCookie>;

/** Cookie that lasts for the minutes of a sign-in. */
export type ShortCookie = SessionCookie;

const week_seconds = 7 * 24 * 3600;

export const sessionCookie = ({ secure }: { secure: boolean }) =>
  cookieOf(secure ? "__Host-runnel" : "runnel_session", secure, week_seconds);

export const attemptCookie = ({ secure }: { secure: boolean }): ShortCookie =>
  cookieOf(secure ? "__Host-runnel-oidc" : "runnel_oidc", secure, 600);

/**
 * Over HTTPS the `__Host-` prefix makes browsers refuse a copy set by a neighbouring subdomain or over plain HTTP.
 * Plain HTTP on loopback cannot use it.
 */
function cookieOf(name: string, secure: boolean, seconds: number) {
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
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
