import { expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { newSigningSecret, type Signable, sign } from "./signature.ts";

const now = () => Math.floor(Date.now() / 1000);
const request = (changes: Partial<Signable> = {}): Signable => ({
  secrets: [newSigningSecret()],
  id: "evt_1",
  timestamp: now(),
  body: '{"text":"grüße"}',
  ...changes,
});
const verify = (secret: string | undefined, body: string | Uint8Array, headers: Record<string, string>) =>
  new Webhook(secret ?? "").verify(Buffer.from(body), headers);

test("a secret is whsec_ and 32 bytes, and differs each time", () => {
  const secrets = new Set(Array.from({ length: 100 }, newSigningSecret));
  expect(secrets.size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
  }
});

test("an independent Standard Webhooks library accepts the signature", () => {
  const signed = request();
  expect(verify(signed.secrets[0], signed.body, sign(signed))).toEqual({ text: "grüße" });
});

test("bytes and text of the same body have the same signature", () => {
  const signed = request();
  expect(sign({ ...signed, body: Buffer.from(signed.body) })).toEqual(sign(signed));
});

test("a tampered body is refused", () => {
  const signed = request();
  expect(() => verify(signed.secrets[0], '{"text":"gruesse"}', sign(signed))).toThrow("No matching signature");
});

test("a tampered id is refused", () => {
  const signed = request();
  const headers = { ...sign(signed), "webhook-id": "evt_2" };
  expect(() => verify(signed.secrets[0], signed.body, headers)).toThrow("No matching signature");
});

test("a replay of an old request is refused, and a new timestamp cannot be put on it", () => {
  const old = request({ timestamp: now() - 3600 });
  const headers = sign(old);
  expect(() => verify(old.secrets[0], old.body, headers)).toThrow("timestamp too old");
  const renewed = { ...headers, "webhook-timestamp": String(now()) };
  expect(() => verify(old.secrets[0], old.body, renewed)).toThrow("No matching signature");
});

test("during a rotation, receivers with the old or the new secret accept, and others do not", () => {
  const signed = request({ secrets: [newSigningSecret(), newSigningSecret()] });
  const headers = sign(signed);
  expect(headers["webhook-signature"]).toMatch(/^v1,\S{44} v1,\S{44}$/);
  for (const secret of signed.secrets) expect(verify(secret, signed.body, headers)).toEqual({ text: "grüße" });
  expect(() => verify(newSigningSecret(), signed.body, headers)).toThrow("No matching signature");
});

test("an unsafe signature is an error and never an unsigned request", () => {
  expect(() => sign(request({ secrets: [] }))).toThrow("without a secret");
  for (const secret of [
    "",
    "whsec_",
    "whsec_short",
    "whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!",
    "A".repeat(44),
  ])
    expect(() => sign(request({ secrets: [secret] }))).toThrow("Not a signing secret");
  for (const id of ["", "evt_1.1700000000"]) expect(() => sign(request({ id }))).toThrow("no dot");
});
