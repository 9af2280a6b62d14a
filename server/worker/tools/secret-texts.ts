import type { ToolSecrets } from "../messages.ts";

/** The texts of a tool's secrets that no output may hold: what its headers carry, and what it signs with. */
export function secretTexts({ headers, signing_secret, named }: ToolSecrets): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (isPlain.test(name) ? [] : credentialsIn(value)));
  return [...values, ...(named?.values ?? []), signing_secret];
}

// Say what a request is like and not who sends it; outputs are full of words such as application/json.
const isPlain = /^(accept|accept-language|content-type|user-agent)$/i;

/** A header's value, and what stands in it behind a scheme such as `Bearer`. */
function credentialsIn(value: string): string[] {
  const [, credential] = /^[A-Za-z-]+\s+(\S+)$/.exec(value.trim()) ?? [];
  return credential === undefined ? [value.trim()] : [value.trim(), credential];
}
