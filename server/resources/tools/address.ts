import type { Environment } from "../../domain/scope.ts";
import { checkEgress, refuseForbidden } from "../../http/check-egress.ts";
import type { Egress } from "../../lib/egress.ts";
import { smtpServer } from "../../lib/smtp-server.ts";

/** Returns the name of an operator-configured server from a `stdio:` address; otherwise null. */
export const stdioName = (address: string): string | null => /^stdio:(.*)$/s.exec(address)?.[1] ?? null;

/** Throws for an address that calls could never reach. */
export async function checkAddress(
  { url, server_url, smtp_url }: { url?: string; server_url?: string; smtp_url?: string },
  egress: Egress,
  environment: Environment,
): Promise<void> {
  if (smtp_url !== undefined) {
    const { host, port } = smtpServer(smtp_url);
    await refuseForbidden(() => egress.resolveServer(host, port), "smtp_url");
    return;
  }
  const [address, param] = url === undefined ? [server_url, "server_url"] : [url, "url"];
  if (address === undefined || stdioName(address) !== null) return;
  await checkEgress(egress, address, environment === "live", param);
}
