import { createHash, createPublicKey, verify, X509Certificate } from "node:crypto";
import type { SubjectAlternativeNameExtension } from "@peculiar/x509";
import { loadX509 } from "../lib/x509.ts";
import { createCertificateAuthority } from "./certificate-authority.ts";

/** Behavior of the server; a test may change it at any time. */
interface AcmeMood {
  /** Number of requests that are refused with `badNonce`. */
  badNonces: number;
  /** Retry-After in seconds for new orders, which are refused as rate limited; null accepts them. */
  rateLimited: number | null;
  /** Number of polls that an order or a check answers with a pending status. */
  pendingAnswers: number;
  /** Orders fail after their names were checked. */
  failOrders: boolean;
  /** Certificate to hand out in place of the issued one. */
  instead: string | null;
  /** Lifetime of the certificates. */
  life_ms: number;
}

interface Jwk {
  crv: string;
  kty: string;
  x: string;
  y: string;
}
interface Authorization {
  name: string;
  status: string;
  token: string;
  error?: object;
}
interface Order {
  status: string;
  names: string[];
  authorizations: string[];
  pending: number;
  chain: string;
}

const day_ms = 86_400_000;

/**
 * The server side of RFC 8555, as far as a client over HTTP-01 meets it: nonces that count once, signatures that are
 * checked, checks that really fetch the file over plain HTTP, certificates of a real authority. It is no substitute for
 * the authorities' own test server, but it can be told to misbehave.
 */
export async function startAcmeServer(mood: Partial<AcmeMood> = {}) {
  const now: AcmeMood = {
    badNonces: 0,
    rateLimited: null,
    pendingAnswers: 0,
    failOrders: false,
    instead: null,
    life_ms: 90 * day_ms,
    ...mood,
  };
  const authority = await createCertificateAuthority();
  const nonces = new Set<string>();
  const accounts = new Map<string, Jwk>();
  const orders: Order[] = [];
  const authorizations = new Map<string, Authorization>();
  /** Names whose check succeeded; they are not checked again. */
  const proven = new Set<string>();
  const seen: string[] = [];
  const tokens: string[] = [];
  let httpPort = 0;

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: await authority.issue({ names: ["localhost", "127.0.0.1"] }),
    async fetch(request) {
      const { pathname } = new URL(request.url);
      seen.push(`${request.method} ${pathname}`);
      try {
        const answer = await respond(request, pathname);
        answer.headers.set("replay-nonce", newNonce());
        return answer;
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        return problem.response(newNonce());
      }
    },
  });
  const at = (path: string) => `https://127.0.0.1:${server.port}${path}`;

  function newNonce(): string {
    const nonce = crypto.randomUUID();
    nonces.add(nonce);
    return nonce;
  }

  async function respond(request: Request, path: string): Promise<Response> {
    if (path === "/dir")
      return Response.json({ newNonce: at("/nonce"), newAccount: at("/account"), newOrder: at("/order") });
    if (path === "/nonce") return new Response();
    const { jwk, payload } = await open(request, path);
    const [, kind, id = ""] = path.split("/");
    if (kind === "account") return newAccount(jwk, payload);
    if (kind === "order" && id === "") return newOrder(payload);
    if (kind === "order") return Response.json(orderView(Number(id)), { headers: { "retry-after": "0.01" } });
    if (kind === "authorization") return Response.json(authorizationView(id), { headers: { "retry-after": "0.01" } });
    if (kind === "challenge") return await check(id, jwk);
    if (kind === "finalize") return await finalize(Number(id), payload);
    if (kind === "certificate") return new Response(now.instead ?? orders[Number(id)]!.chain);
    throw new Problem("malformed", "There is no such address.", 404);
  }

  /**
   * Returns the key and the payload of a signed request. Checks everything that RFC 8555, section 6, requires of it.
   */
  async function open(request: Request, path: string): Promise<{ jwk: Jwk; payload: Record<string, unknown> | null }> {
    if (request.headers.get("content-type") !== "application/jose+json")
      throw new Problem("malformed", "Not a signed request.", 415);
    const body = (await request.json()) as { protected: string; payload: string; signature: string };
    const head = decode(body.protected) as { alg: string; url: string; nonce: string; kid?: string; jwk?: Jwk };
    if (!nonces.delete(head.nonce) || now.badNonces-- > 0) throw new Problem("badNonce", "This nonce does not count.");
    if (head.alg !== "ES256" || head.url !== at(path)) throw new Problem("unauthorized", "Signed for something else.");
    if ((head.jwk === undefined) === (path === "/account")) throw new Problem("malformed", "One of jwk and kid.");
    const jwk = head.jwk ?? accounts.get(head.kid ?? "");
    if (!jwk) throw new Problem("accountDoesNotExist", "There is no such account.");
    const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
    const signature = Buffer.from(body.signature, "base64url");
    const text = Buffer.from(`${body.protected}.${body.payload}`);
    if (!verify("sha256", text, { key, dsaEncoding: "ieee-p1363" }, signature))
      throw new Problem("malformed", "The signature is wrong.");
    return { jwk, payload: body.payload === "" ? null : (decode(body.payload) as Record<string, unknown>) };
  }

  function newAccount(jwk: Jwk, payload: Record<string, unknown> | null): Response {
    if (payload?.termsOfServiceAgreed !== true) throw new Problem("userActionRequired", "Agree to the terms.");
    const kid = at(`/account/${thumbprintOf(jwk)}`);
    const status = accounts.has(kid) ? 200 : 201;
    accounts.set(kid, jwk);
    return Response.json({ status: "valid" }, { status, headers: { location: kid } });
  }

  function newOrder(payload: Record<string, unknown> | null): Response {
    if (now.rateLimited !== null)
      throw new Problem("rateLimited", "Too many orders.", 429, { "retry-after": String(now.rateLimited) });
    const names = ((payload?.identifiers ?? []) as { value: string }[]).map(({ value }) => value);
    const ids = names.map((name) => {
      const id = crypto.randomUUID();
      const token = crypto.randomUUID();
      tokens.push(token);
      authorizations.set(id, { name, status: proven.has(name) ? "valid" : "pending", token });
      return id;
    });
    orders.push({ status: "pending", names, authorizations: ids, pending: now.pendingAnswers, chain: "" });
    const id = orders.length - 1;
    return Response.json(orderView(id), { status: 201, headers: { location: at(`/order/${id}`) } });
  }

  function orderView(id: number): object {
    const order = orders[id]!;
    const open = order.authorizations.map((each) => authorizations.get(each)!.status);
    if (order.status === "pending" && open.every((status) => status === "valid")) order.status = "ready";
    if (order.status === "ready" && now.failOrders) order.status = "invalid";
    if (order.status === "processing" && order.pending-- <= 0) order.status = "valid";
    return {
      status: order.status,
      authorizations: order.authorizations.map((each) => at(`/authorization/${each}`)),
      finalize: at(`/finalize/${id}`),
      ...(order.status === "valid" && { certificate: at(`/certificate/${id}`) }),
      ...(order.status === "invalid" && { error: { detail: "This name is on a list." } }),
    };
  }

  function authorizationView(id: string): object {
    const { name, status, token, error } = authorizations.get(id)!;
    const pending = status === "checked" && pendingLeft-- > 0;
    const shown = pending ? "pending" : status === "checked" ? "valid" : status;
    if (shown === "valid") Object.assign(authorizations.get(id)!, { status: "valid" });
    return {
      status: shown,
      identifier: { type: "dns", value: name },
      challenges: [
        { type: "dns-01", url: at("/none"), token, status: "pending" },
        { type: "http-01", url: at(`/challenge/${id}`), token, status: "pending", error },
      ],
    };
  }
  let pendingLeft = 0;

  async function check(id: string, jwk: Jwk): Promise<Response> {
    const authorization = authorizations.get(id)!;
    const { name, token } = authorization;
    const url = `http://127.0.0.1:${httpPort}/.well-known/acme-challenge/${token}`;
    const found = await fetch(url, { headers: { host: name }, redirect: "manual", keepalive: false }).catch(() => null);
    const text = found?.status === 200 ? await found.text() : `status ${found?.status}`;
    pendingLeft = now.pendingAnswers;
    if (text.trim() === `${token}.${thumbprintOf(jwk)}`) {
      authorization.status = "checked";
      proven.add(name);
    } else
      Object.assign(authorization, { status: "invalid", error: { detail: `${name} does not lead here: ${text}` } });
    return Response.json({});
  }

  async function finalize(id: number, payload: Record<string, unknown> | null): Promise<Response> {
    orderView(id);
    const order = orders[id]!;
    if (order.status !== "ready") throw new Problem("orderNotReady", `The order is ${order.status}.`, 403);
    const from = Date.now() - 1000;
    const publicKey = await requestedKey(String(payload?.csr), order.names);
    const leaf = await authority.certify(publicKey, { names: order.names, from, to: from + now.life_ms });
    Object.assign(order, { status: "processing", chain: leaf + authority.ca });
    return Response.json(orderView(id));
  }

  return {
    directory: at("/dir"),
    /** Verifies the directory and the issued certificates. */
    ca: authority.ca,
    mood: now,
    /** Method and path of each request. */
    seen,
    /** All issued tokens. */
    tokens,
    accounts,
    orders,
    /** Sets the port at which all names are validated. */
    leadTo(port: number): void {
      httpPort = port;
    },
    forgetProofs: () => proven.clear(),
    /** Certificate of the last order, as the authority issued it. */
    last: () => new X509Certificate(orders.at(-1)!.chain),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

class Problem extends Error {
  constructor(
    readonly type: string,
    detail: string,
    readonly status = 400,
    readonly headers: Record<string, string> = {},
  ) {
    super(detail);
  }

  response(nonce: string): Response {
    const body = { type: `urn:ietf:params:acme:error:${this.type}`, detail: this.message };
    return Response.json(body, { status: this.status, headers: { ...this.headers, "replay-nonce": nonce } });
  }
}

const decode = (text: string): unknown => JSON.parse(Buffer.from(text, "base64url").toString());

const thumbprintOf = ({ crv, kty, x, y }: Jwk): string =>
  createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");

const subjectAltName = "2.5.29.17";

/** Returns the key of a signing request. Checks its signature and its names. */
async function requestedKey(csr: string, names: readonly string[]) {
  const { Pkcs10CertificateRequest } = await loadX509();
  const request = new Pkcs10CertificateRequest(Buffer.from(csr, "base64url"));
  if (!(await request.verify())) throw new Problem("badCSR", "Not signed by the key in it.");
  const asked = request.getExtension(subjectAltName) as SubjectAlternativeNameExtension | null;
  if (asked?.names.items.map(({ value }) => value).join() !== names.join())
    throw new Problem("badCSR", "It asks for other names.");
  return request.publicKey;
}
