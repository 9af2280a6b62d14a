/** The cookie that carries a session's token. */
export type SessionCookie = ReturnType<typeof sessionCookie>;

const week_seconds = 7 * 24 * 3600;

/**
 * Over HTTPS the name itself makes browsers refuse a copy that a neighbouring subdomain or plain HTTP tries to set.
 * Plain HTTP on loopback can have no such cookie, so there it has another name.
 */
export function sessionCookie({ secure }: { secure: boolean }) {
  const name = secure ? "__Host-runnel" : "runnel_session";
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return {
    name,
    set: (token: string): string => `${name}=${token}${attributes}; Max-Age=${week_seconds}`,
    clear: (): string => `${name}=${attributes}; Max-Age=0`,
    read(request: Request): string | null {
      const pairs = (request.headers.get("cookie") ?? "").split(/;\s*/);
      const pair = pairs.find((text) => text.startsWith(`${name}=`));
      return pair?.slice(name.length + 1) || null;
    },
  };
}
