import type { Environment } from "../../domain/scope.ts";
import { checkEgress } from "../../http/check-egress.ts";
import type { Egress } from "../../lib/egress.ts";
import { isLoopback, parseAddress } from "../../lib/ip-address.ts";

/** Throws for an address that no event could reach. */
export const checkAddress = (url: string, egress: Egress, environment: Environment): Promise<void> =>
  checkEgress(egress, url, httpsOnly(url, environment), "url");

/** True if https is required: always, except for this machine in the test environment. */
export const httpsOnly = (url: string, environment: Environment): boolean =>
  environment === "live" || !isThisMachine(url);

function isThisMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$|\.+$/g, "") ?? "";
  const address = parseAddress(host);
  return address ? isLoopback(address) : host === "localhost" || host.endsWith(".localhost");
}
