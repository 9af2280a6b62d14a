import { AppError } from "../core/errors.ts";
import { type Cidr, holds, isLoopback, parseAddress } from "../lib/ip-address.ts";
import { isHere } from "../lib/own-addresses.ts";

/** How a request reached us. */
export interface Transport {
  /** Address at the other end of the connection. */
  peer: string | null;
  host: string | null;
  forwardedProto: string | null;
  forwardedFor: string | null;
}

export interface TransportRules {
  /** The listener itself ends TLS. Never asked of a request's address, which is made from what the client sent. */
  tls: boolean;
  /** Proxies whose forwarding headers are believed. */
  trustProxy: readonly Cidr[];
  /** Plain HTTP is served, to loopback alone. */
  insecureHttp: boolean;
}

type TransportCheck = "allowed" | "insecure" | "bad_host";

/** Whether a request came encrypted all the way. Nobody but a trusted proxy may claim it for somebody else. */
export function checkTransport(transport: Transport, rules: TransportRules): TransportCheck {
  const { host } = transport;
  if (host === null || !hostPattern.test(host)) return "bad_host";
  // The peer is looked at only where it counts: behind TLS of our own and no proxy it does not.
  if (rules.trustProxy.length > 0 && isProxy(transport.peer, rules)) return checkProxied(transport, rules);
  if (rules.tls) return "allowed";
  return rules.insecureHttp && isLocal(transport.peer) ? "allowed" : "insecure";
}

/** Whether the client is on this machine: it connects from one of its addresses. */
export function isOfHere(peer: string | null): boolean {
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && isHere(address);
}

function isProxy(peer: string | null, { trustProxy }: TransportRules): boolean {
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && trustProxy.some((network) => holds(network, address));
}

function isLocal(peer: string | null): boolean {
  if (peer === "127.0.0.1") return true;
  const address = peer === null ? null : parseAddress(peer);
  return address !== null && isLoopback(address);
}

// The last value is the one our own proxy added; those before it came from the client. With TLS between the proxy and us
// its silence is no bad sign, but what it took in plain HTTP was in clear text all the same.
function checkProxied({ forwardedProto }: Transport, { tls }: TransportRules): TransportCheck {
  if (tls && forwardedProto === null) return "allowed";
  return forwardedProto?.split(",").at(-1)?.trim().toLowerCase() === "https" ? "allowed" : "insecure";
}

// A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port. Two Host headers arrive joined by a comma,
// and two parties would read two different hosts.
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Who asks: the peer, or behind trusted proxies the nearest address that is not one of them. */
export function clientAddress({ peer, forwardedFor }: Transport, { trustProxy }: TransportRules): string | null {
  if (peer === null || trustProxy.length === 0 || forwardedFor === null) return peer;
  let client = peer;
  for (const hop of forwardedFor.split(",").reverse()) {
    const address = parseAddress(client);
    if (!address || !trustProxy.some((network) => holds(network, address))) return client;
    const next = withoutPort(hop.trim());
    if (!parseAddress(next)) return client; // What cannot be read cannot be believed.
    client = next;
  }
  return client;
}

/** `[::1]:443` and `10.0.0.1:443` are how some proxies name a client. */
const withoutPort = (text: string): string =>
  text.replace(/^\[(.+)\](:\d{1,5})?$/, "$1").replace(/^(\d[\d.]*):\d{1,5}$/, "$1");

/** Reads of a request what is asked for, and no more. */
class Reached implements Transport {
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

/** Stands before everything else. */
export interface TransportGate {
  /**
   * Throws for a request without a usable address, which nobody after this meets, and for one that did not come over
   * HTTPS, whose key it has counted as exposed.
   */
  admit(request: Request): void;
  clientOf(request: Request): string | null;
  /** Whether it came from this machine by a name that is none of it: a page may have led its browser here. */
  isRebound(request: Request): boolean;
  /** Whether browsers shall insist on HTTPS for this host from now on (HSTS). */
  insists(request: Request): boolean;
}

/** Who sent something in clear text; `local`: from this machine, so that no network carried it. */
export interface ClearTextSender {
  ip: string | null;
  local: boolean;
}

export type OnExposed = (authorization: string, sender: ClearTextSender) => void;

export interface GateOptions {
  rules: TransportRules;
  peerOf: (request: Request) => string | null;
  /** Came by a listener that takes plain HTTP only to refuse it. */
  isPlain?: (request: Request) => boolean;
  /** Whether a `Host` names this machine; absent: any may. */
  isOwnName?: (host: string | null) => boolean;
  /** Whether the certificate is one that somebody vouches for. */
  isVouchedFor?: () => boolean;
  /** Called with an `Authorization` header that came in clear text. */
  onExposed: OnExposed;
}

/** They need no key, and show no secret. */
const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

const forwarding = ["forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip", "via"];

/** Whether a proxy has forwarded the request: its client may be anywhere, also where the proxy is on this machine. */
export const isForwarded = ({ headers }: Request): boolean => forwarding.some((name) => headers.has(name));

const refuseAll: TransportRules = { tls: false, trustProxy: [], insecureHttp: false };
const no = () => false;
const yes = () => true;

/** They need no key, and no proxy has to be in between. `/metrics` has a token, and says itself who may read it. */
const healthPath = /^https?:\/\/[^/]+\/(?:healthz|readyz)\/?(?:\?|$)/;

export const reboundRefused = (): AppError =>
  new AppError(
    "validation_failed",
    "From this machine it is asked by an address or a name of the machine, or by that of --public-url.",
  );

export function createTransportGate(options: GateOptions): TransportGate {
  const { rules, peerOf, isPlain = no, isVouchedFor = no, isOwnName = yes, onExposed } = options;
  // To ask the system for a peer costs a tenth of a read. All who ask do so before anything is awaited, one request after
  // another, so that remembering the last one is enough.
  let last: { request: Request; peer: string | null } | undefined;
  const peerOnce = (request: Request): string | null => {
    if (last?.request !== request) last = { request, peer: peerOf(request) };
    return last.peer;
  };
  const transportOf = (request: Request): Transport => new Reached(request, peerOnce);
  // Where a proxy terminates TLS, health checks and a Prometheus on this machine have no other way in.
  const isOwnProbe = (request: Request): boolean =>
    !rules.tls &&
    !isPlain(request) &&
    isOfHere(peerOnce(request)) &&
    !isForwarded(request) &&
    probes.has(new URL(request.url).pathname);
  // Behind a proxy the name is the proxy's to judge, and it is asked by the public one.
  const isRebound = (request: Request): boolean =>
    isOfHere(peerOnce(request)) &&
    !(isProxy(peerOnce(request), rules) && request.headers.has("x-forwarded-proto")) &&
    !isOwnName(request.headers.get("host"));
  const clientOf = (request: Request): string | null =>
    rules.trustProxy.length === 0 ? peerOnce(request) : clientAddress(transportOf(request), rules);
  // The client is this machine if a trusted proxy says so, or if it connects itself: a proxy on this machine that names
  // no client may have taken the request from anywhere.
  function senderOf(request: Request): ClearTextSender {
    const ip = clientOf(request);
    return { ip, local: isOfHere(ip) && (ip !== peerOnce(request) || !isForwarded(request)) };
  }
  return {
    isRebound,
    admit(request) {
      const checked = checkTransport(transportOf(request), isPlain(request) ? refuseAll : rules);
      // 1.2.3.999 and port 99999 look like hosts and are none.
      if (checked === "bad_host" || !URL.canParse(request.url))
        throw new AppError(
          "validation_failed",
          "A request has exactly one Host header: a name or an address, and perhaps a port.",
        );
      if (healthPath.test(request.url) && isRebound(request)) throw reboundRefused();
      if (checked === "allowed") return;
      const authorization = request.headers.get("authorization");
      if (authorization === null && isOwnProbe(request)) return;
      if (authorization !== null) onExposed(authorization, senderOf(request));
      // Never a redirect: it would work, and nobody would notice that the key went over the wire in clear text.
      throw new AppError("https_required", "Use https. A key that was sent over plain HTTP must be replaced.");
    },
    clientOf,
    // Behind a proxy the certificate that browsers see is the proxy's, and so is this promise.
    insists: (request) =>
      rules.tls &&
      rules.trustProxy.length === 0 &&
      isVouchedFor() &&
      !isPlain(request) &&
      isPublicName(request.headers.get("host") ?? ""),
  };
}

/** A name that belongs to this server. On `localhost` it would lock out whatever else runs there, on any port. */
const isPublicName = (host: string): boolean =>
  /^(?:[\w-]+\.)+[a-z][\w-]*(?::\d+)?$/i.test(host) && !/(?:^|\.)localhost(?::\d+)?$/i.test(host);
