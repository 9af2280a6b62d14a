import { isLoopback, isUnspecified, networkContains, parseAddress, parseCidr } from "./ip-address.ts";
import { interceptFetch } from "./outgoing-fetch.ts";
import { secretsInUrl } from "./url-secrets.ts";

type Environment = Record<string, string | undefined>;

/** Proxy of a request; false: direct, whatever the environment says. */
type ProxyOption = { proxy: string | false };

const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/** Removes the proxy variables, in both cases. `NO_PROXY` names no proxy and stays. */
export function removeProxyEnvironment(environment: Environment = process.env): void {
  // Bun's fetch silently uses these proxies, and so does its S3 client, which knows no exceptions: a request to this
  // machine, with its API key, would leave it.
  for (const name of names) {
    delete environment[name];
    delete environment[name.toLowerCase()];
  }
}

/** Rule that decides which requests use a proxy. */
interface Rule {
  proxy: string;
  /** True if the operator excluded the host from the proxy. */
  isException(host: string, port: number): boolean;
}

let rule: Rule | null = null;

/** For requests that never use a proxy, such as those between the nodes of a cluster. */
export const direct: ProxyOption = { proxy: false };

/**
 * Routes requests of this thread through the proxy of `RUNNEL_PROXY` and no other. Call it first in the main thread and
 * in every worker, because a worker's fetch starts with the proxies of the process. Throws for an invalid proxy.
 */
export function applyProxy(environment: Environment = process.env): void {
  rule = readRule(environment);
  removeProxyEnvironment(environment);
  if (rule === null) return;
  interceptFetch((fetch) => async (input, init) => {
    const isDecided = init !== undefined && "proxy" in init;
    return await fetch(input, isDecided ? init : ({ ...init, ...proxyFor(addressOf(input)) } as RequestInit));
  });
}

const addressOf = (input: string | URL | Request): URL => new URL(input instanceof Request ? input.url : input);

/** Returns the operator's rule, or null without a proxy. Throws for an invalid proxy. */
export function readRule(environment: Environment): Rule | null {
  const proxy = readProxy(environment.RUNNEL_PROXY);
  return proxy === null
    ? null
    : { proxy, isException: exceptionsOf(environment.no_proxy ?? environment.NO_PROXY ?? "") };
}

/** Returns the URL of a proxy, or null if there is none. Throws for an invalid one, without repeating its password. */
export function readProxy(text: string | undefined): string | null {
  if (!text?.trim()) return null;
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw new Error("--proxy takes the address of an HTTP proxy, such as http://proxy.example.com:3128.");
  return url.href;
}

/** Parts of a proxy's URL that must not be logged. */
export const proxySecrets = (proxy: string | null): string[] => (proxy === null ? [] : secretsInUrl(proxy));

/**
 * Returns the proxy setting for a request; `address` is the resolved address, if known. Requests to this machine never
 * use the proxy.
 */
export function proxyFor(url: URL, address?: string, by: Rule | null = rule): ProxyOption {
  if (by === null) return direct;
  const hosts = [hostOf(url), ...(address === undefined ? [] : [address])];
  if (hosts.some(isThisMachine)) return direct;
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const { proxy, isException } = by;
  return hosts.some((host) => isException(host, port)) ? direct : { proxy };
}

/**
 * Routes Bun's S3 client like `wayTo`: it only knows the proxy of the environment. Other requests ignore the variable,
 * because they all set a proxy option while a rule exists.
 */
export function setObjectStoreProxy(url: URL, environment: Environment = process.env): void {
  const { proxy } = proxyFor(url);
  if (proxy !== false) environment.HTTP_PROXY = proxy;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");

function isThisMachine(host: string): boolean {
  const address = parseAddress(host);
  if (address) return isLoopback(address) || isUnspecified(address);
  return /(^|\.)localhost$|\.localdomain$/.test(host);
}

/** Parses `NO_PROXY`: `*`, domain suffixes, addresses and networks, each with an optional port. */
function exceptionsOf(text: string): Rule["isException"] {
  const entries = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map(exceptionOf);
  return (host, port) => entries.some((holdsHost) => holdsHost(host.toLowerCase(), port));
}

function exceptionOf(entry: string): (host: string, port: number) => boolean {
  const [, plain = entry, only] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  const name = plain.replace(/^\[|\]$/g, "").replace(/^\*?\./, "");
  const network = parseCidr(name) ?? networkOf(name);
  const holdsHost = (host: string): boolean => {
    if (name === "*") return true;
    const address = parseAddress(host);
    return network && address ? networkContains(network, address) : host === name || host.endsWith(`.${name}`);
  };
  return (host, port) => (only === undefined || Number(only) === port) && holdsHost(host);
}

function networkOf(text: string) {
  const address = parseAddress(text);
  return address && { ...address, prefix: address.family === 4 ? 32 : 128 };
}
