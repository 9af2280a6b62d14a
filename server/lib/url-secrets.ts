/** The password in a URL, encoded and decoded; empty for one without. */
export function secretsInUrl(url: string): string[] {
  const { password } = new URL(url);
  return [...new Set([password, decodeURIComponent(password)])].filter((secret) => secret !== "");
}
