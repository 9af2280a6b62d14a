import { AppError } from "../core/errors.ts";
import type { Environment } from "../core/scope.ts";
import { fault, validationError } from "../http/errors.ts";
import { type Egress, EgressError } from "../lib/egress.ts";

/** The name of a server that the operator configured, when the address is one of those; else null. */
export const stdioName = (address: string): string | null => /^stdio:(.*)$/s.exec(address)?.[1] ?? null;

/** Early word on an address that calls could never reach; every call is judged again. */
export async function checkAddress(
  { url, server_url }: { url?: string; server_url?: string },
  egress: Pick<Egress, "check">,
  environment: Environment,
): Promise<void> {
  const [address, param] = url === undefined ? [server_url, "server_url"] : [url, "url"];
  if (address === undefined || stdioName(address) !== null) return;
  try {
    await egress.check(address, { httpsOnly: environment === "live" });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // A name that does not resolve today may do so tomorrow, and the call will be judged by what it resolves to.
    if (error.code === "dns_failed" || error.code === "dns_timeout") return;
    if (error.code === "url_invalid" || error.code === "credentials_in_url")
      throw validationError([fault(param, error.message)]);
    throw new AppError("url_not_allowed", error.message, { param });
  }
}
