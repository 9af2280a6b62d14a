/** Returns the fault of an allowed page origin as a sentence, or null. */
export function originFault(text: string): string | null {
  const url = URL.parse(text);
  if (`${text}${url?.hostname}`.includes("*"))
    // Also refuses an encoded asterisk.
    return "Must be one origin by its whole name: a * stands for no other ones.";
  if (!url || (url.origin !== text && !isBare(url)))
    return "Must be an origin such as https://example.com: no path, no slash at its end.";
  if (url.origin !== text) return `Browsers write this origin ${url.origin}.`;
  if (!isHostName(url.hostname))
    return "Must be an origin such as https://example.com, with a name that a page can have.";
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && isHere)) return null;
  return "Must be https. Plain http is for localhost.";
}

/** True if the URL has only an origin, perhaps not in the form that browsers use. */
const isBare = (url: URL): boolean => url.origin !== "null" && url.href === `${url.origin}/`;

/** True if the host can be a DNS name or an IP address. */
export const isHostName = (host: string): boolean =>
  /^\[[\da-f:]+\]$/.test(host) ||
  (host.length <= 254 && /^(?:[a-z\d_](?:[\w-]{0,61}[a-z\d_])?(?:\.(?!$)|\.?$))+$/.test(host));
