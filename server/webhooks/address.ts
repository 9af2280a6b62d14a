import { AppError } from "../core/errors.ts";
import type { Environment } from "../core/scope.ts";
import { fault, validationError } from "../http/errors.ts";
import { type Egress, EgressError } from "../lib/egress.ts";
import { isLoopback, parseAddress } from "../lib/ip-address.ts";

/** Early word on an address that no event could reach; every attempt is judged again. */
export async function checkAddress(
  url: string,
  egress: Pick<Egress, "check">,
  environment: Environment,
): Promise<void> {
  try {
    await egress.check(url, { httpsOnly: httpsOnly(url, environment) });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // A name that does not resolve today may do so tomorrow, and the attempt will be judged by what it resolves to.
    if (error.code === "dns_failed" || error.code === "dns_timeout") return;
    if (error.code === "url_invalid" || error.code === "credentials_in_url")
      throw validationError([fault("url", error.message)]);
    throw new AppError("url_not_allowed", error.message, { param: "url" });
  }
}

/** Whether only https will do: everywhere but at this machine itself in a test environment, whatever else is allowed. */
export const httpsOnly = (url: string, environment: Environment): boolean =>
  environment === "live" || !isThisMachine(url);

function isThisMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$|\.+$/g, "") ?? "";
  const address = parseAddress(host);
  return address ? isLoopback(address) : host === "localhost" || host.endsWith(".localhost");
}
