import { AppError } from "../domain/errors.ts";
import { type Cidr, isLoopback, networkContains, parseAddress } from "../lib/ip-address.ts";
import { isLocalAddress } from "../lib/self-addresses.ts";

/** Connection data of a request. */
export interface Transport {
  /** Address of the other end of the connection. */
  peer: string | null;
  host: string | null;
  forwardedProto: string | null;
  forwardedFor: string | null;
}

export interface TransportRules {
  /** True if the listener terminates TLS. Never derived from the URL, because the client chooses that. */
  tls: boolean;
  /** Proxies whose forwarding headers are trusted. */
  trustProxy: readonly Cidr[];
  /** True if plain HTTP is served to loopback clients. */
  insecureHttp: boolean;
}

type TransportCheck = "allowed" | "insecure" | "bad_host";

/** Checks that the connection was TLS, or that a trusted proxy says so. */
export function checkTransport(transport: Transport, rules: TransportRules): TransportCheck {
  const { host } = transport;
  if (host === null || !hostPattern.test(host)) return "bad_host";
  // The peer is looked up only if it matters: with TLS and without a proxy it does not.
  if (rules.trustProxy.length > 0 && isProxy(transport.peer, rules)) return checkProxied(transport, rules);
  if (rules.tls) return "allowed";
  return rules.insecureHttp && isLocal(transport.peer) ? "allowed" : "insecure";
}

/** True if the client is on this machine: it connects from one of the machine's addresses. */
export function isLocalClient(peer: string | null): boolean {
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && isLocalAddress(address);
}

function isProxy(peer: string | null, { trustProxy }: TransportRules): boolean {
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && trustProxy.some((network) => networkContains(network, address));
}

function isLocal(peer: string | null): boolean {
  if (peer === "127.0.0.1") return true;
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && isLoopback(address);
}

// Only the last value was added by our own proxy; earlier ones came from the client. With TLS between the proxy and us,
// a missing header is fine, but an explicit "http" still means clear text.
function checkProxied({ forwardedProto }: Transport, { tls }: TransportRules): TransportCheck {
  if (tls && forwardedProto === null) return "allowed";
  return forwardedProto?.split(",").at(-1)?.trim().toLowerCase() === "https" ? "allowed" : "insecure";
}

// A name, an IPv4 address or an IPv6 address in brackets, and an optional port. Two Host headers arrive joined by a
// comma; they are refused, because two parties could each use another one.
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Client address: the peer, or behind trusted proxies the nearest address that is not a proxy. */
export function clientAddress({ peer, forwardedFor }: Transport, { trustProxy }: TransportRules): string | null {
  if (peer === null || trustProxy.length === 0 || forwardedFor === null) return peer;
  let client = peer;
  for (const hop of forwardedFor.split(",").reverse()) {
    const address = parseAddress(client);
    if (!address || !trustProxy.some((network) => networkContains(network, address))) return client;
    const next = withoutPort(hop.trim());
    if (!parseAddress(next)) return client; // An unreadable hop cannot be trusted.
    client = next;
  }
  return client;
}

/** Removes the port: some proxies send `[::1]:443` or `10.0.0.1:443`. */
const withoutPort = (text: string): string =>
  text.replace(/^\[(.+)\](:\d{1,5})?$/, "$1").replace(/^(\d[\d.]*):\d{1,5}$/, "$1");

/** Reads headers lazily, because most checks need few of them. */
class LazyTransport implements Transport {
  constructor(
    private readonly request: Request,
    private readonly peerOf: (request: Request) => string | null,
  ) {}
  get peer() {
    return this.peerOf(this.request);
  }
  get host() {
    return this.request.headers.get("host");
  }
  get forwardedProto() {
    return this.request.headers.get("x-forwarded-proto");
  }
  get forwardedFor() {
    return this.request.headers.get("x-forwarded-for");
  }
}

/** Transport checks that run before everything else. */
export interface TransportGate {
  /** Throws for an unusable Host or URL, and for a request over plain HTTP, whose key it reports as exposed. */
  admit(request: Request): void;
  clientOf(request: Request): string | null;
  /** True if a local request names a host that is not this machine: DNS rebinding by a page in a local browser. */
  isRebound(request: Request): boolean;
  /** True if browsers should use only HTTPS for this host (HSTS). */
  shouldSendHsts(request: Request): boolean;
}

/** Sender of a key in clear text. `local`: from this machine, so that no network carried it. */
export interface ClearTextSender {
  ip: string | null;
  local: boolean;
}

export type OnExposed = (authorization: string, sender: ClearTextSender) => void;

export interface GateOptions {
  rules: TransportRules;
  peerOf: (request: Request) => string | null;
  /** True if the request came through a listener that accepts plain HTTP only to refuse it. */
  isPlain?: (request: Request) => boolean;
  /** True if a `Host` names this machine; absent: any host is accepted. */
  isOwnName?: (host: string | null) => boolean;
  /** True if a certificate authority issued the certificate. */
  isVouchedFor?: () => boolean;
  /** Called with an `Authorization` header that came over plain HTTP. */
  onExposed: OnExposed;
}

/** Paths that need no key and show no secret. */
const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

const forwarding = ["forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip", "via"];

/** True if a proxy forwarded the request: its client may be anywhere, even if the proxy is on this machine. */
export const isForwarded = ({ headers }: Request): boolean => forwarding.some((name) => headers.has(name));

const refuseAll: TransportRules = { tls: false, trustProxy: [], insecureHttp: false };
const no = () => false;
const yes = () => true;

/** Health checks, which need neither a key nor a proxy. `/metrics` has its own token and its own check. */
const healthPath = /^https?:\/\/[^/]+\/(?:healthz|readyz)\/?(?:\?|$)/;

export const foreignHostRefused = (): AppError =>
  new AppError(
    "validation_failed",
    "From this machine it is asked by an address or a name of the machine, or by that of --public-url.",
  );

export function createTransportGate(options: GateOptions): TransportGate {
  const { rules, peerOf, isPlain = no, isVouchedFor = no, isOwnName = yes, onExposed } = options;
  // Looking up the peer costs a tenth of a read. All callers ask before the first await, one request after another, so
  // caching the last request is enough.
  let last: { request: Request; peer: string | null } | undefined;
  const peerOnce = (request: Request): string | null => {
    if (last?.request !== request) last = { request, peer: peerOf(request) };
    return last.peer;
  };
  const transportOf = (request: Request): Transport => new LazyTransport(request, peerOnce);
  // If a proxy terminates TLS, local health checks and a local Prometheus have no other way in.
  const isOwnProbe = (request: Request): boolean =>
    !rules.tls &&
    !isPlain(request) &&
    isLocalClient(peerOnce(request)) &&
    !isForwarded(request) &&
    probes.has(new URL(request.url).pathname);
  // Behind a proxy the host is public, and checking it is the proxy's job.
  const isRebound = (request: Request): boolean =>
    isLocalClient(peerOnce(request)) &&
    !(isProxy(peerOnce(request), rules) && request.headers.has("x-forwarded-proto")) &&
    !isOwnName(request.headers.get("host"));
  const clientOf = (request: Request): string | null =>
    rules.trustProxy.length === 0 ? peerOnce(request) : clientAddress(transportOf(request), rules);
  // Local if a trusted proxy says so, or if the client connects directly. A local proxy that names no client may have
  // forwarded a remote request.
  function senderOf(request: Request): ClearTextSender {
    const ip = clientOf(request);
    return { ip, local: isLocalClient(ip) && (ip !== peerOnce(request) || !isForwarded(request)) };
  }
  return {
    isRebound,
    admit(request) {
      const checked = checkTransport(transportOf(request), isPlain(request) ? refuseAll : rules);
      // 1.2.3.999 and port 99999 match the pattern but are no valid hosts.
      if (checked === "bad_host" || !URL.canParse(request.url))
        throw new AppError(
          "validation_failed",
          "A request has exactly one Host header: a name or an address, and perhaps a port.",
        );
      if (healthPath.test(request.url) && isRebound(request)) throw foreignHostRefused();
      if (checked === "allowed") return;
      const authorization = request.headers.get("authorization");
      if (authorization === null && isOwnProbe(request)) return;
      if (authorization !== null) onExposed(authorization, senderOf(request));
      // Never redirect: it would work, and the key in clear text would go unnoticed.
      throw new AppError("https_required", "Use https. A key that was sent over plain HTTP must be replaced.");
    },
    clientOf,
    // Behind a proxy, browsers see the proxy's certificate, so HSTS is the proxy's decision.
    shouldSendHsts: (request) =>
      rules.tls &&
      rules.trustProxy.length === 0 &&
      isVouchedFor() &&
      !isPlain(request) &&
      isPublicName(request.headers.get("host") ?? ""),
  };
}

/** True for a public name. On `localhost`, HSTS would break other servers on any port. */
const isPublicName = (host: string): boolean =>
  /^(?:[\w-]+\.)+[a-z][\w-]*(?::\d+)?$/i.test(host) && !/(?:^|\.)localhost(?::\d+)?$/i.test(host);
