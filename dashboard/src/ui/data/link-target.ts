/** Returns the target of an untrusted link; null for scripts, files and pages of this server. */
export function linkTarget(href: string | undefined): { href: string; host: string } | null {
  if (!href) return null;
  try {
    const url = new URL(href);
    if (url.protocol === "mailto:") return { href: url.href, host: url.pathname.split("?")[0]! };
    if (url.protocol !== "https:" && url.protocol !== "http:") return null;
    // A user name before @ could be mistaken for the host.
    url.username = "";
    url.password = "";
    return { href: url.href, host: url.host };
  } catch {
    return null;
  }
}
