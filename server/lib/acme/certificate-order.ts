import { backoff, sleep } from "../retry.ts";
import { createKeys, ecdsa, loadX509, namesExtension, privatePem } from "../x509.ts";
import type { AccountKey } from "./account-key.ts";
import { type AcmeAnswer, type AcmeClient, AcmeError, readObject } from "./client.ts";

interface ObtainOptions {
  client: AcmeClient;
  key: AccountKey;
  domains: readonly string[];
  /** Responses of port 80 to the authority's checks, by token. */
  challenges: Map<string, string>;
  signal: AbortSignal;
  now: () => number;
}

/** Issued certificate with its chain, and its private key; both PEM. */
export interface IssuedCertificate {
  chain: string;
  key: string;
}

interface Problem {
  detail?: string;
}
interface Order {
  status: "pending" | "ready" | "processing" | "valid" | "invalid";
  authorizations: string[];
  finalize: string;
  certificate?: string;
  error?: Problem;
}
interface Authorization {
  status: "pending" | "valid" | "invalid" | "deactivated" | "expired" | "revoked";
  identifier: { value: string };
  challenges: { type: string; url: string; token: string; error?: Problem }[];
}

/** Orders a certificate, proves control of each name (HTTP-01) and downloads it. Throws `AcmeError`. */
export async function orderCertificate(options: ObtainOptions): Promise<IssuedCertificate> {
  const { client, domains } = options;
  const identifiers = domains.map((value) => ({ type: "dns", value }));
  const orderAnswer = await client.order({ identifiers });
  const { authorizations, finalize } = readOrder(orderAnswer);
  for (const url of authorizations) await prove(url, options);
  const proven = await settled(options, orderAnswer.location, readOrder, ({ status }) => status !== "pending");
  if (proven.status === "invalid") throw refused("the order", proven.status, proven.error);
  const { key, csr } = await createSigningRequest(domains);
  await client.post(finalize, { csr });
  const order = await settled(options, orderAnswer.location, readOrder, ({ status }) => status !== "processing");
  if (order.status !== "valid" || !order.certificate) throw refused("the order", order.status, order.error);
  return { key, chain: (await client.post(order.certificate, null)).text };
}

/** Proves control of one name, unless an earlier order has proven it. */
async function prove(url: string, options: ObtainOptions): Promise<void> {
  const { client, key, challenges } = options;
  const { status, challenges: offered } = readAuthorization(await client.post(url, null));
  if (status === "valid") return;
  const challenge = offered.find(({ type }) => type === "http-01");
  if (!challenge || !tokenPattern.test(challenge.token))
    throw new AcmeError("The authority offers no check over HTTP.", "challenge");
  challenges.set(challenge.token, key.authorize(challenge.token));
  try {
    await client.post(challenge.url, {});
    const done = await settled(options, url, readAuthorization, (now) => now.status !== "pending");
    if (done.status !== "valid")
      throw refused(done.identifier.value, done.status, done.challenges.find(({ error }) => error)?.error);
  } finally {
    challenges.delete(challenge.token);
  }
}

const tokenPattern = /^[\w-]{1,128}$/;
const patience_ms = 180_000;

/** Polls until the value is settled, at the interval that the authority asks for. */
async function settled<T>(
  { client, signal, now }: ObtainOptions,
  url: string,
  read: (answer: AcmeAnswer) => T,
  isSettled: (value: T) => boolean,
): Promise<T> {
  const end = now() + patience_ms;
  for (let tries = 1; ; tries++) {
    const answer = await client.post(url, null);
    const value = read(answer);
    if (isSettled(value)) return value;
    if (now() > end) throw new AcmeError("The authority did not come to an end.", "timeout", answer.retryAfter_ms);
    await sleep(backoff(Math.min(tries, 4), answer.retryAfter_ms), signal);
    signal.throwIfAborted();
  }
}

function readOrder({ text }: AcmeAnswer): Order {
  const order = readObject(text) as Partial<Order>;
  if (!order.status || !order.finalize || !Array.isArray(order.authorizations)) throw unreadable("order");
  return order as Order;
}

function readAuthorization({ text }: AcmeAnswer): Authorization {
  const authorization = readObject(text) as Partial<Authorization>;
  if (!authorization.status || !authorization.identifier || !Array.isArray(authorization.challenges))
    throw unreadable("authorization");
  return authorization as Authorization;
}

const unreadable = (what: string): AcmeError => new AcmeError(`The authority sent no readable ${what}.`, "protocol");

const refused = (what: string, status: string, problem: Problem | undefined): AcmeError =>
  new AcmeError(`${what} is ${status}: ${problem?.detail ?? "the authority did not say why"}`, status);

/** Fresh private key, and the request to certify it for some names. */
interface SigningRequest {
  /** PKCS#8, PEM. */
  key: string;
  /** PKCS#10, DER in base64url. */
  csr: string;
}

/** Creates a key for each certificate, so that a leaked key is useless after the next renewal. */
async function createSigningRequest(domains: readonly string[]): Promise<SigningRequest> {
  const { Pkcs10CertificateRequestGenerator } = await loadX509();
  const keys = await createKeys();
  const extensions = [await namesExtension(domains)];
  const csr = await Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: ecdsa, extensions });
  return { key: privatePem(keys.privateKey), csr: csr.toString("base64url") };
}
