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

/** An egress that checks each origin once: of a thousand tools of one API, each would wait for the same name. */
export function checksOnce(egress: Egress): Egress {
  const checks = new Map<string, ReturnType<Egress["check"]>>();
  const check: Egress["check"] = (url, options) => {
    const parsed = URL.parse(url);
    if (!parsed || parsed.username || parsed.password) return egress.check(url, options);
    const key = `${parsed.origin} ${options?.httpsOnly ?? false}`;
    const earlier = checks.get(key);
    if (earlier) return earlier;
    const started = egress.check(url, options);
    checks.set(key, started);
    return started;
  };
  return { ...egress, check };
}
