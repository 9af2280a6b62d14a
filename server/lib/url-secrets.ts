/** Returns the password of a URL, encoded and decoded; empty if it has none. */
export function secretsInUrl(url: string): string[] {
  const { password } = new URL(url);
  return [...new Set([password, decodeURIComponent(password)])].filter((secret) => secret !== "");
}
