/** Where a link of a foreign text leads, or null where it may lead nowhere: scripts, files, pages of this server. */
export function linkTarget(href: string | undefined): { href: string; host: string } | null {
  if (!href) return null;
  try {
    const url = new URL(href);
    if (url.protocol === "mailto:") return { href: url.href, host: url.pathname.split("?")[0]! };
    if (url.protocol !== "https:" && url.protocol !== "http:") return null;
    // Names before an @ are there to be taken for the host.
    url.username = "";
    url.password = "";
    return { href: url.href, host: url.host };
  } catch {
    return null;
  }
}
