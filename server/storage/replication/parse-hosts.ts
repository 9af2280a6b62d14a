import { ClusterError } from "./cluster-error.ts";

const urlPattern = /^(postgres(?:ql)?:\/\/)((?:[^/?#@]*@)?)([^/?#@]+)(\/[^/?#]+)((?:\?[^#]*)?)$/;

/** Returns one URL for each host of a URL, in order. Throws `ClusterError` for an invalid one. */
export function parseHosts(url: string): string[] {
  const [, scheme, user, hosts, database = "", query] = urlPattern.exec(url) ?? [];
  if (hosts === undefined)
    throw new ClusterError("--cluster takes postgres://USER:PASSWORD@HOST[:PORT][,HOST[:PORT]]/DATABASE.");
  if (!isDecodable(user + database))
    throw new ClusterError("--cluster has a % that is not encoded. Write % in a name or password as %25.");
  return hosts.split(",").map((host) => {
    const address = `${scheme}${user}${host}${database}${query}`;
    if (!URL.canParse(address)) throw new ClusterError(`--cluster names a host that is none: ${host}.`);
    return address;
  });
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

/** Returns the URL without its password, for logs. */
export const withoutPassword = (address: string): string =>
  address.replace(/^([^:]+:\/\/[^:@/]*):[^@/]*@/, "$1@").replace(/([?&]password=)[^&]*/g, "$1…");
