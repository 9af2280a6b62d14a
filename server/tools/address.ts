import type { Environment } from "../core/scope.ts";
import { requireReachable } from "../http/require-reachable.ts";
import type { Egress } from "../lib/egress.ts";

/** The name of a server that the operator configured, when the address is one of those; else null. */
export const stdioName = (address: string): string | null => /^stdio:(.*)$/s.exec(address)?.[1] ?? null;

/** Throws for an address that calls could never reach. */
export async function checkAddress(
  { url, server_url }: { url?: string; server_url?: string },
  egress: Pick<Egress, "check">,
  environment: Environment,
): Promise<void> {
  const [address, param] = url === undefined ? [server_url, "server_url"] : [url, "url"];
  if (address === undefined || stdioName(address) !== null) return;
  await requireReachable(egress, address, environment === "live", param);
}
