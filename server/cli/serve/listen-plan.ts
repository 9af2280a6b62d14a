import { domainToASCII } from "node:url";
import type { TransportRules } from "../../http/https-only.ts";
import { createOwnNames } from "../../http/own-names.ts";
import type { Certificate } from "../../lib/certificate.ts";
import { hostOf, portOf } from "../../lib/egress-policy.ts";
import { type Cidr, hasLoopback, isLoopback, parseAddress, parseCidr } from "../../lib/ip-address.ts";
import type { SelfAddress } from "../../lib/self-addresses.ts";
import { SettingLacking, usageError } from "../commands/exit-code.ts";

/** Flags of `serve` for its listener, as given. */
export interface ListenFlags {
  host?: string;
  port?: string;
  domain?: string;
  acmeDirectory?: string;
  acmeEmail?: string;
  acmeCacert?: string;
  httpPort?: string;
  tlsCert?: string;
  tlsKey?: string;
  trustedProxies?: string;
  insecureHttp?: boolean;
}

/** The operator's certificate files. */
export interface CertificateFiles {
  cert: string;
  key: string;
}

/** Domains that lead here, whose certificate an authority issues automatically. */
export interface DomainPlan {
  domains: [string, ...string[]];
  directory: string;
  email: string | null;
  /** CA file that verifies the directory's own certificate. */
  cacert: string | null;
}

/** Settings of the listener, checked to be safe. */
export interface ListenPlan {
  host: string;
  port: number;
  /** Source of the certificate; null for plain HTTP on loopback or behind a trusted proxy. */
  tls: CertificateFiles | DomainPlan | "own" | null;
  /** Port on which plain HTTP is refused; null for none. */
  httpPort: number | null;
  trustProxy: Cidr[];
  insecureHttp: boolean;
  loopback: boolean;
}

const usualDirectory = "https://acme-v02.api.letsencrypt.org/directory";

/** Decides how to listen. Throws a usage error instead of exposing plain HTTP to a network. */
export function planListener(flags: ListenFlags): ListenPlan {
  const certified = readDomains(flags) ?? readTlsFiles(flags);
  const isPublic = flags.domain !== undefined;
  const host = flags.host ?? (isPublic ? "0.0.0.0" : "127.0.0.1");
  const insecureHttp = flags.insecureHttp ?? false;
  const loopback = isLoopbackHost(host);
  const trustProxy = readNetworks(flags.trustedProxies);
  if (insecureHttp && !loopback)
    throw usageError(
      `--insecure-http serves loopback alone, and ${host} is not: keys would cross the network in clear text.`,
    );
  if (insecureHttp && certified) throw usageError("--insecure-http and a certificate exclude each other.");
  const tls = certified ?? (insecureHttp || trustProxy.length > 0 ? null : "own");
  if (flags.httpPort !== undefined && tls === null)
    throw usageError("--http-port stands beside a port with TLS, and there is none: --port is the plain one.");
  const httpPort = flags.httpPort ?? (isPublic ? "80" : null);
  return {
    host,
    port: readPort("--port", flags.port ?? (isPublic ? "443" : "8443")),
    tls,
    httpPort: httpPort === null ? null : readPort("--http-port", httpPort),
    trustProxy,
    insecureHttp,
    loopback,
  };
}

function readDomains(flags: ListenFlags): DomainPlan | null {
  const { domain, tlsCert, tlsKey, acmeDirectory, acmeEmail, acmeCacert } = flags;
  if (domain === undefined) {
    if (acmeDirectory ?? acmeEmail ?? acmeCacert)
      throw new SettingLacking("--acme-… flags say how --domain gets its certificate.");
    return null;
  }
  if (tlsCert !== undefined || tlsKey !== undefined)
    throw usageError("--domain gets a certificate by itself; --tls-cert and --tls-key name one that is there.");
  const [first, ...others] = splitList(domain).map(readDomain);
  if (first === undefined) throw usageError("--domain takes the name by which clients reach this server.");
  if (acmeDirectory !== undefined && !isHttps(acmeDirectory))
    throw usageError(`--acme-directory takes an address with https, not "${acmeDirectory}".`);
  return {
    domains: [first, ...others],
    directory: acmeDirectory ?? usualDirectory,
    email: acmeEmail ?? null,
    cacert: acmeCacert ?? null,
  };
}

function readDomain(text: string): string {
  if (text.includes("*"))
    throw usageError(`--domain takes names that a check over HTTP can reach, and ${text} is many.`);
  const name = /[/\\:@?#\s]/.test(text) ? "" : domainToASCII(text.replace(/\.$/, "")).toLowerCase();
  if (!domainPattern.test(name) || parseAddress(name))
    throw usageError(`--domain takes names such as api.example.com, with commas, not "${text}".`);
  return name;
}

const domainPattern = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/;

const isHttps = (text: string): boolean => URL.canParse(text) && new URL(text).protocol === "https:";

function isLoopbackHost(host: string): boolean {
  const address = parseAddress(host);
  return address ? isLoopback(address) : host === "localhost";
}

function readPort(flag: string, text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    // Kubernetes sets this variable for a Service named runnel.
    const hint = text.startsWith("tcp://")
      ? " RUNNEL_PORT is a Service's here: enableServiceLinks: false in the pod."
      : "";
    throw usageError(`${flag} takes a number from 0 (any free port) to 65535, not "${text}".${hint}`);
  }
  return Number(text);
}

function readTlsFiles({ tlsCert, tlsKey }: ListenFlags): CertificateFiles | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new SettingLacking("--tls-cert and --tls-key belong together.");
  return { cert: tlsCert, key: tlsKey };
}

function readNetworks(text: string | undefined): Cidr[] {
  return splitList(text).map((part) => {
    const network = parseCidr(part.includes("/") ? part : `${part}/${part.includes(":") ? 128 : 32}`);
    if (!network) throw usageError(`--trusted-proxies takes addresses and networks such as 10.0.0.0/8, not "${part}".`);
    return network;
  });
}

/**
 * True if tools may reach this machine. False if loopback is a trusted proxy, because their headers would be trusted.
 */
export const allowsLoopback = ({ loopback, trustProxy }: ListenPlan): boolean =>
  loopback && !trustProxy.some(hasLoopback);

/** True if clients come only through the proxy: direct requests are refused as plain HTTP. */
export const isBehindProxy = ({ tls, insecureHttp, trustProxy }: ListenPlan): boolean =>
  tls === null && (!insecureHttp || trustProxy.some(hasLoopback));

/** Returns every address of the server, which tools and webhooks must not reach. */
export function ownAddresses(plan: ListenPlan, ports: readonly (number | null)[], publicUrl?: string): SelfAddress[] {
  // A host name may resolve to any address when the port is opened, so it counts as all addresses of this machine.
  const hosts = [parseAddress(plan.host) ? plan.host : "::", ...domainsOf(plan)];
  const listening = ports.filter((port) => port !== null);
  const own: SelfAddress[] = hosts.flatMap((host) => listening.map((port) => ({ host, port })));
  const url = publicUrl === undefined ? null : URL.parse(publicUrl);
  if (url) own.push({ host: hostOf(url) ?? "", port: portOf(url), shared: true });
  return own;
}

/** Returns the names by which the operator says that the server is reached. */
function namesOf(plan: ListenPlan, publicUrl?: string): string[] {
  const url = publicUrl === undefined ? null : URL.parse(publicUrl);
  return [plan.host, ...domainsOf(plan), ...(url ? [hostOf(url) ?? ""] : [])].filter((name) => name !== "");
}

/** Returns the check if a `Host` names this machine: by its listener, its certificate, or the public URL. */
export const ownNamesOf = (
  plan: ListenPlan,
  entrance: { certificate(): Certificate | null },
  publicUrl?: string,
): ReturnType<typeof createOwnNames> =>
  createOwnNames({ names: namesOf(plan, publicUrl), certificate: () => entrance.certificate()?.cert ?? null });

/** Returns the transport rules for requests to this listener. */
export const rulesOf = ({ tls, trustProxy, insecureHttp }: ListenPlan): TransportRules => ({
  tls: tls !== null,
  trustProxy,
  insecureHttp,
});

/** Returns the domains of the server's certificate. */
const domainsOf = ({ tls }: ListenPlan): string[] =>
  tls !== null && tls !== "own" && "domains" in tls ? tls.domains : [];

/** Returns the address for clients, on this machine or by the domain. */
export function addressOf(plan: ListenPlan, port: number): string {
  const name = domainsOf(plan)[0] ?? addressHost(plan.host);
  return `${plan.tls ? "https" : "http"}://${name}${plan.tls && port === 443 ? "" : `:${port}`}`;
}

/** Returns the address for use on this machine, without a domain. */
export const addressHere = ({ tls, host }: ListenPlan, port: number): string =>
  `${tls ? "https" : "http"}://${addressHost(host)}:${port}`;

/** Returns a host that a client on this machine can connect to, unlike 0.0.0.0. */
function addressHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Splits a list with commas. */
export const splitList = (text: string | undefined): string[] =>
  (text ?? "").split(",").flatMap((part) => part.trim() || []);
