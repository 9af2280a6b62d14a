import type { Environment } from "../core/scope.ts";
import { requireReachable } from "../http/require-reachable.ts";
import type { Egress } from "../lib/egress.ts";
import { isLoopback, parseAddress } from "../lib/ip-address.ts";

/** Throws for an address that no event could reach. */
export const checkAddress = (url: string, egress: Pick<Egress, "check">, environment: Environment): Promise<void> =>
  requireReachable(egress, url, httpsOnly(url, environment), "url");

/** Whether only https will do: everywhere but at this machine itself in a test environment, whatever else is allowed. */
export const httpsOnly = (url: string, environment: Environment): boolean =>
  environment === "live" || !isThisMachine(url);

function isThisMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$|\.+$/g, "") ?? "";
  const address = parseAddress(host);
  return address ? isLoopback(address) : host === "localhost" || host.endsWith(".localhost");
}
