import { EgressError } from "./egress-error.ts";
import {
  type Cidr,
  type IpAddress,
  isCloudMetadata,
  isLoopback,
  isPublic,
  networkContains,
  parseAddress,
  parseCidr,
  unmappedNetwork,
} from "./ip-address.ts";
import { isSelf, type SelfAddress } from "./self-addresses.ts";

/** Destinations that are allowed besides public addresses. Plain data, so that it can be sent to worker threads. */
export type EgressPolicy = {
  /** `host[:port]`, `*.suffix[:port]` or a network in CIDR form. */
  allow: readonly string[];
  /** True if this machine itself may be reached. */
  loopback: boolean;
  /** Addresses of this server itself, which no rule opens. */
  own?: readonly SelfAddress[];
  /** Certificates (PEM) to trust instead of the usual authorities. */
  ca?: string;
};

/** Reason why an address may be reached, or `forbidden`. */
export type AddressClass = "public" | "allowed" | "loopback" | "forbidden";

type HostRule = { host: string; wildcard: boolean; port: number | null };

/** Compiled policy. */
export type AddressRules = ReturnType<typeof createAddressRules>;

/** Compiles a policy. Throws `policy_invalid` with every rule that cannot be read. */
export function createAddressRules({ allow, loopback, own = [] }: EgressPolicy) {
  const { hosts, networks } = readRules(allow);

  /** True if a host rule names this host at this port. */
  const names = (host: string, port: number): boolean =>
    hosts.some(
      (rule) =>
        (rule.port === null || rule.port === port) &&
        (rule.wildcard ? host.endsWith(`.${rule.host}`) : host === rule.host),
    );

  return {
    names,
    loopback,

    /**
     * True if the address leads to this server itself, which trusts its local clients more than a user's request may
     * claim.
     */
    isOwn: (host: string, port: number, address: IpAddress): boolean => isSelf(own, host, port, address),

    /** True if plain HTTP may be right for this host, judged before its name is looked up. */
    mayBePlain: (host: string, port: number): boolean =>
      names(host, port) || networks.length > 0 || (loopback && isLoopbackHost(host)),

    /**
     * Classifies an address. Host rules and loopback never open cloud metadata, because the name's owner could point it
     * there.
     */
    classify(address: IpAddress, trust: { named: boolean; loopback: boolean }): AddressClass {
      if (networks.some((network) => networkContains(network, address))) return "allowed";
      if (isCloudMetadata(address)) return "forbidden";
      if (trust.named) return "allowed";
      if (trust.loopback && isLoopback(address)) return "loopback";
      return isPublic(address) ? "public" : "forbidden";
    },
  };
}

function isLoopbackHost(host: string): boolean {
  const address = parseAddress(host);
  return address ? isLoopback(address) : host === "localhost" || host.endsWith(".localhost");
}

function readRules(allow: readonly string[]): { hosts: HostRule[]; networks: Cidr[] } {
  const hosts: HostRule[] = [];
  const networks: Cidr[] = [];
  const faults: string[] = [];
  for (const text of allow) {
    const rule = text.includes("/") ? readNetwork(text) : readHost(text);
    if (typeof rule === "string") faults.push(`${JSON.stringify(text)} ${rule}`);
    else if ("prefix" in rule) networks.push(rule);
    else hosts.push(rule);
  }
  if (faults.length > 0) throw new EgressError("policy_invalid", `Egress rules: ${faults.join("; ")}.`);
  return { hosts, networks };
}

function readNetwork(text: string): Cidr | string {
  const network = parseCidr(text);
  if (!network) return "is no network like 10.0.5.0/24";
  return unmappedNetwork(network).prefix === 0 ? "would open every address" : network;
}

function readHost(text: string): HostRule | string {
  const address = parseAddress(text);
  const literal = address?.family === 6 ? `[${text}]` : text;
  const [, wildcard, name = "", port] =
    /^(\*\.)?(\[[0-9a-f:.]+\]|[^\s/?#@*:\\[\]%]+)(?::(\d{1,5}))?$/i.exec(literal) ?? [];
  const host = canonicalHost(name);
  if (host === null) return "is none of host[:port], *.suffix and CIDR";
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return "has no valid port";
  return { host, wildcard: wildcard !== undefined, port: port === undefined ? null : Number(port) };
}

/** Normalizes a host to the spelling of `hostOf`, so that the two can be compared. */
function canonicalHost(name: string): string | null {
  const url = name === "" ? null : URL.parse(`http://${name}`);
  return url && hostOf(url);
}

/** Returns a URL's host without brackets and trailing dots, or null if nothing is left. */
export const hostOf = (url: URL): string | null => url.hostname.replace(/^\[|\]$|\.+$/g, "") || null;

/** Returns the port of a URL: its own, or its scheme's default. 0 only if the URL says 0. */
export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
