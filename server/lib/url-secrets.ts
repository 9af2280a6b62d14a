/** The password in a URL, as it stands there and as it is sent; nothing for one without. */
export function secretsInUrl(url: string): string[] {
  const { password } = new URL(url);
  return [...new Set([password, decodeURIComponent(password)])].filter((secret) => secret !== "");
}
