import type { OidcSettings } from "../../dashboard-api/oidc.ts";
import { isOwnHost } from "../../lib/ip-address.ts";
import { SettingLacking, usageError } from "../commands/exit-code.ts";
import { splitList } from "./listen-plan.ts";

export interface OidcFlags {
  oidcIssuer?: string;
  oidcClientId?: string;
  oidcClientSecret?: string;
  oidcName?: string;
  oidcRoleClaim?: string;
  oidcAllowedDomains?: string;
  oidcTrustEmail?: boolean;
  localAccounts?: "on" | "off";
}

/** Reads the OIDC issuer; null if there is none. Throws for incomplete settings. */
export function oidcSettings(flags: OidcFlags): OidcSettings | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = flags;
  const whole = { "--oidc-issuer": issuer, "--oidc-client-id": clientId, "--oidc-client-secret": clientSecret };
  const more = { "--oidc-role-claim": flags.oidcRoleClaim, "--oidc-allowed-domains": flags.oidcAllowedDomains };
  const other = { "--oidc-name": flags.oidcName, "--oidc-trust-email": flags.oidcTrustEmail };
  const provided = Object.entries({ ...whole, ...more, ...other }).filter(([, value]) => value);
  const [first] = provided;
  if (!first) {
    if (flags.localAccounts === "off")
      throw new SettingLacking(
        "--local-accounts off needs an issuer to sign in at: --oidc-issuer. No user could sign in.",
      );
    return null;
  }
  const missing = Object.entries(whole).flatMap(([flag, value]) => (value ? [] : [flag]));
  if (!issuer || !clientId || !clientSecret)
    throw new SettingLacking(
      `Signing in at an issuer also needs ${new Intl.ListFormat("en").format(missing)}, beside ${first[0]}.`,
    );
  const { host } = checkedIssuer(issuer);
  // Without a domain, any user of the issuer could enter an invited person's address in their profile and sign in as
  // them.
  if (flags.oidcTrustEmail && !flags.oidcAllowedDomains)
    throw new SettingLacking(
      "--oidc-trust-email needs --oidc-allowed-domains: the domains whose addresses the issuer alone gives out.",
    );
  return {
    issuer,
    clientId,
    clientSecret,
    name: flags.oidcName ?? host,
    roleClaim: flags.oidcRoleClaim ?? null,
    domains: splitList(flags.oidcAllowedDomains).map(checkedDomain),
    trustEmail: flags.oidcTrustEmail ?? false,
  };
}

/** Requires https, except on this machine: over plain HTTP an eavesdropper could sign in as any person. */
function checkedIssuer(text: string): URL {
  const url = URL.parse(text);
  const isPlain = url?.protocol === "http:" && isOwnHost(url.hostname);
  if (url && (url.protocol === "https:" || isPlain) && url.search === "" && url.hash === "" && url.username === "")
    return url;
  throw usageError(
    `--oidc-issuer takes an address such as https://id.example.com, and plain HTTP on this machine alone, not "${text}".`,
  );
}

function checkedDomain(text: string): string {
  const domain = text.replace(/^@/, "").toLowerCase();
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) return domain;
  throw usageError(`--oidc-allowed-domains takes names such as example.com, not "${text}".`);
}
