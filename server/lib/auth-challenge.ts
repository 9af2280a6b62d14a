/** What a `WWW-Authenticate` header says of a missing authorization (RFC 6750, 9728). */
export interface Challenge {
  error: string | null;
  resource_metadata: string | null;
  /** Null: it names none. */
  scopes: readonly string[] | null;
}

const challengeLength_max = 4096;

/** Reads the parameters of a `Bearer` challenge. */
export function readChallenge(header: string | null): Challenge {
  const text = (header ?? "").slice(0, challengeLength_max);
  const at = text.search(/(^|,\s*)bearer(\s|$)/i);
  const params = new Map<string, string>();
  if (at >= 0)
    for (const [, name = "", quoted, plain] of text.slice(at).matchAll(/([a-z_]{1,40})=(?:"([^"]*)"|([^\s,"]+))/gi))
      if (!params.has(name.toLowerCase())) params.set(name.toLowerCase(), quoted ?? plain ?? "");
  const scopes = params
    .get("scope")
    ?.split(/\s+/)
    .filter((one) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(one));
  return {
    error: params.get("error") ?? null,
    resource_metadata: params.get("resource_metadata") ?? null,
    scopes: scopes && scopes.length > 0 ? [...new Set(scopes)].slice(0, 100) : null,
  };
}
