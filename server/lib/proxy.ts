import { holds, isLoopback, isUnspecified, parseAddress, parseCidr } from "./ip-address.ts";
import { secretsInUrl } from "./url-secrets.ts";

type Environment = Record<string, string | undefined>;

/** The proxy that a request goes through; false: it goes to its host directly, whatever the environment says. */
type Way = { proxy: string | false };

const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/** Forgets the proxies that the environment names, in both cases. `NO_PROXY` names none, and stays. */
export function removeProxyEnvironment(environment: Environment = process.env): void {
  // Bun's fetch hands requests to these proxies without a word, and so does its client of object stores, which asks for no
  // exception: a request to this machine, with its API key, would leave it.
  for (const name of names) {
    delete environment[name];
    delete environment[name.toLowerCase()];
  }
}

/** Which requests go through a proxy. */
interface Rule {
  proxy: string;
  /** Whether a host is reached without the proxy, since the operator says so. */
  isException(host: string, port: number): boolean;
}

let rule: Rule | null = null;

/** For requests that no proxy may take: the nodes of a cluster reach each other directly. */
export const direct: Way = { proxy: false };

/**
 * Lets requests of this thread go through the proxy of `RUNNEL_PROXY`, and through no other one. Call it first thing in the
 * main thread and in every worker: a worker's fetch begins with the proxies that the process began with. Throws for what
 * is no proxy.
 */
export function applyProxy(environment: Environment = process.env): void {
  rule = readRule(environment);
  removeProxyEnvironment(environment);
  if (rule === null) return;
  globalThis.fetch = Object.assign(async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const isDecided = init !== undefined && "proxy" in init;
    return await bare(input, isDecided ? init : ({ ...init, ...wayTo(addressOf(input)) } as RequestInit));
  }, bare);
}

const bare = globalThis.fetch;
const addressOf = (input: string | URL | Request): URL => new URL(input instanceof Request ? input.url : input);

/** The operator's rule; null for one without a proxy. Throws for what is no proxy. */
export function readRule(environment: Environment): Rule | null {
  const proxy = readProxy(environment.RUNNEL_PROXY);
  return proxy === null
    ? null
    : { proxy, isException: exceptionsOf(environment.no_proxy ?? environment.NO_PROXY ?? "") };
}

/** The address of a proxy; null where there is none. Throws for what is no proxy, and does not repeat its password. */
export function readProxy(text: string | undefined): string | null {
  if (!text?.trim()) return null;
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw new Error("--proxy takes the address of an HTTP proxy, such as http://proxy.example.com:3128.");
  return url.href;
}

/** What of a proxy's address no line of the log may hold. */
export const proxySecrets = (proxy: string | null): string[] => (proxy === null ? [] : secretsInUrl(proxy));

/**
 * How a request goes to a host; `address` is the one of its addresses that it is sent to, where that was chosen already.
 * Nothing for this machine leaves it.
 */
export function wayTo(url: URL, address?: string, by: Rule | null = rule): Way {
  if (by === null) return direct;
  const hosts = [hostOf(url), ...(address === undefined ? [] : [address])];
  if (hosts.some(isThisMachine)) return direct;
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const { proxy, isException } = by;
  return hosts.some((host) => isException(host, port)) ? direct : { proxy };
}

/**
 * Lets Bun's client of object stores reach this one as `wayTo` says: it knows no proxy but the one of the environment. No
 * other request minds the variable, since each says how it goes while there is a rule.
 */
export function leadStoresTo(url: URL, environment: Environment = process.env): void {
  const { proxy } = wayTo(url);
  if (proxy !== false) environment.HTTP_PROXY = proxy;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");

function isThisMachine(host: string): boolean {
  const address = parseAddress(host);
  if (address) return isLoopback(address) || isUnspecified(address);
  return /(^|\.)localhost$|\.localdomain$/.test(host);
}

/**
 * Reads `NO_PROXY`: `*`, names with all that ends in them, addresses and networks, each with a port if it is for that one
 * alone.
 */
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
    return network && address ? holds(network, address) : host === name || host.endsWith(`.${name}`);
  };
  return (host, port) => (only === undefined || Number(only) === port) && holdsHost(host);
}

function networkOf(text: string) {
  const address = parseAddress(text);
  return address && { ...address, prefix: address.family === 4 ? 32 : 128 };
}
