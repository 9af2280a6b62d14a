import type { Environment } from "../../domain/scope.ts";
import { checkEgress } from "../../http/check-egress.ts";
import type { Egress } from "../../lib/egress.ts";

/** Returns the name of an operator-configured server from a `stdio:` address; otherwise null. */
export const stdioName = (address: string): string | null => /^stdio:(.*)$/s.exec(address)?.[1] ?? null;

/** Throws for an address that calls could never reach. */
export async function checkAddress(
  { url, server_url }: { url?: string; server_url?: string },
  egress: Egress,
  environment: Environment,
): Promise<void> {
  const [address, param] = url === undefined ? [server_url, "server_url"] : [url, "url"];
  if (address === undefined || stdioName(address) !== null) return;
  await checkEgress(egress, address, environment === "live", param);
}
