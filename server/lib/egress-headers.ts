import { EgressError } from "./egress-error.ts";

/** Throws `header_forbidden` for headers that would change the request into another one. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/.test(lower)) refuse(name, "is not a header name");
    if (isForwarding(lower)) refuse(name, "says who is forwarded, which only a proxy may");
    if (reserved.has(lower) || lower.startsWith("proxy-")) refuse(name, "is set by the server itself");
    // Two spellings of one name would be merged into one value that neither of them had.
    if (seen.has(lower)) refuse(name, "is given twice");
    // A line break would begin another header, or another request.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) refuse(name, "has a value with forbidden characters");
    seen.add(lower);
  }
}

/** Removes headers with which a proxy describes its client: a receiver that trusts them would see another sender. */
export const withoutForwarding = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isForwarding(name.toLowerCase())));

// Some receivers read `_` as `-`.
const isForwarding = (name: string): boolean => forwarding.test(name.replaceAll("_", "-"));

const forwarding =
  /^(via|forwarded|x-forwarded(-.*)?|x-original-.*|x-envoy-external-address|(x-|true-|x-cluster-)?client-ip|x-real-(ip|host)|x-remote-(ip|addr)|x-originating-ip|x-proxyuser-ip|(cf|fastly|fly)-(connecting-|client-)?ip(v6)?|x-azure-(client|socket)ip|x-appengine-user-ip)$/;

/**
 * Keeps only the headers that may follow a redirect to another origin. A blocklist would miss the secret in an
 * `X-Token`.
 */
export function withoutSecrets(headers: Headers): Headers {
  const plain = new Headers();
  for (const name of ["accept", "accept-language", "content-type", "user-agent"]) {
    const value = headers.get(name);
    if (value !== null) plain.set(name, value);
  }
  return plain;
}

const reserved = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function refuse(name: string, reason: string): never {
  // Neither is repeated raw: the name may hold line breaks, and the value may be a secret.
  throw new EgressError("header_forbidden", `The header ${JSON.stringify(name.slice(0, 64))} ${reason}.`);
}
