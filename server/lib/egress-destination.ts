import dns from "node:dns";
import { EgressError } from "./egress-error.ts";
import { type AddressClass, type AddressRules, hostOf, portOf } from "./egress-policy.ts";
import { parseAddress } from "./ip-address.ts";

/** Resolves a name to all of its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;
/** Destination of a request. Its addresses were checked, and only they may be connected to. */
export type Destination = { url: URL; host: string; port: number; addresses: readonly string[]; loopback: boolean };
/** Strictness of the check of one hop. */
type HopRules = {
  httpsOnly: boolean;
  loopback: boolean;
  /** True if only public addresses may be reached, whatever the policy allows besides them. */
  publicOnly?: boolean;
  /** True for a protocol that is not HTTP, which has ports of its own. */
  otherProtocol?: boolean;
};

const dnsTimeoutMs = 5_000;

/**
 * Returns a check that resolves a URL to its allowed addresses. It throws `EgressError` if the URL may not be reached.
 */
export function createVet(addressRules: AddressRules, resolve: Resolve) {
  return async function vet(url: URL, rules: HopRules, signal?: AbortSignal): Promise<Destination> {
    const { host, port, named } = vetText(url, rules, addressRules);
    // Names that mean this machine everywhere, such as `localhost`: forbidden, even if the resolver does not know them.
    const isHere = localName.test(host) && !named && !rules.loopback;
    const addresses = parseAddress(host)
      ? [host]
      : await lookUp(host, resolve, signal).catch(nowhereIf(isHere, signal));
    const classes = addresses.map((text): AddressClass => {
      const address = parseAddress(text);
      if (address && addressRules.isOwn(host, port, address))
        throw new EgressError("address_forbidden", `${host}:${port} leads back to this server.`);
      const trust = { named: named && !rules.publicOnly, loopback: rules.loopback };
      return address ? addressRules.classify(address, trust) : "forbidden";
    });
    if (rules.publicOnly && classes.some((one) => one !== "public"))
      throw new EgressError("address_forbidden", `${host} is not a public host.`);
    // One forbidden address among allowed ones refuses the name: chance or an attacker would decide which one is
    // reached.
    if (classes.includes("forbidden") || (isHere && !classes.includes("allowed")))
      throw new EgressError("address_forbidden", `${host} is not a public host, and no rule allows it.`);
    if (url.protocol === "http:" && !named && classes.includes("public")) refuseScheme(host);
    return { url, host, port, addresses, loopback: classes.every((one) => one === "loopback") };
  };
}

const localName = /(^|\.)(localhost|localdomain)$/;

/** Returns no address for an unknown name that would be forbidden anyway; rethrows otherwise. */
const nowhereIf =
  (forbidden: boolean, signal?: AbortSignal) =>
  (error: unknown): readonly string[] => {
    signal?.throwIfAborted();
    if (forbidden) return [];
    throw error;
  };

/** Checks the URL's text, before any lookup. */
function vetText(
  url: URL,
  rules: HopRules,
  addressRules: AddressRules,
): { host: string; port: number; named: boolean } {
  const host = hostOf(url);
  if (url.protocol !== "https:" && url.protocol !== "http:") refuseScheme(host ?? "The address");
  if (url.username || url.password)
    throw new EgressError("credentials_in_url", "A user name or password in a URL is not allowed.");
  if (host === null) throw new EgressError("url_invalid", "The URL names no host.");
  const port = portOf(url);
  const named = addressRules.names(host, port);
  if (port === 0 || (!rules.otherProtocol && otherProtocols.has(port) && !named))
    throw new EgressError("port_forbidden", `Port ${port} is not for HTTP.`);
  if (url.protocol === "http:" && (rules.httpsOnly || !addressRules.mayBePlain(host, port))) refuseScheme(host);
  return { host, port, named };
}

async function lookUp(host: string, resolve: Resolve, signal?: AbortSignal): Promise<readonly string[]> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), dnsTimeoutMs);
  try {
    const found = await unlessAborted(resolve(host), AbortSignal.any([limit.signal, ...(signal ? [signal] : [])]));
    if (found.length > 0) return found;
  } catch {
    signal?.throwIfAborted();
    if (limit.signal.aborted) throw new EgressError("dns_timeout", `Looking up ${host} took too long.`);
  } finally {
    clearTimeout(timer);
  }
  throw new EgressError("dns_failed", `${host} could not be looked up.`);
}

/** Resolves with the system's resolver, hosts file included, as any other program on this machine. */
export const systemResolve: Resolve = async (host) =>
  (await dns.promises.lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** Stops waiting for a lookup on abort; the lookup itself cannot be cancelled. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  return promise;
}

function refuseScheme(host: string): never {
  throw new EgressError("scheme_forbidden", `${host} must be reached by https.`);
}

// Ports of line-based services (mail, chat, printers, …), which an HTTP request could drive: the Fetch standard's bad
// ports.
const otherProtocols = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
