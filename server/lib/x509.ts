import { KeyObject } from "node:crypto";
import type { JsonGeneralName, SubjectAlternativeNameExtension } from "@peculiar/x509";
import { parseAddress } from "./ip-address.ts";
import { lazy } from "./lazy.ts";

/** The library of certificates, loaded when one is created, because it would delay every start. */
export const loadX509 = lazy(async () => {
  await import("reflect-metadata"); // The library throws without it.
  return import("@peculiar/x509");
});

/** Algorithm of all keys and signatures. */
export const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export const createKeys = (): Promise<CryptoKeyPair> => crypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);

/** Private key as PKCS#8, PEM. */
export const privatePem = (key: CryptoKey): string =>
  String(KeyObject.from(key).export({ type: "pkcs8", format: "pem" }));

/** Names and addresses of a certificate. */
export async function namesExtension(names: readonly string[]): Promise<SubjectAlternativeNameExtension> {
  const { SubjectAlternativeNameExtension } = await loadX509();
  const nameOf = (value: string): JsonGeneralName => ({ type: parseAddress(value) ? "ip" : "dns", value });
  return new SubjectAlternativeNameExtension(names.map(nameOf));
}
