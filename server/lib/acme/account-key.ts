import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from "jose";
import { replaceFile } from "../replace-file.ts";

/** Key of an account at a certificate authority. Its holder may order certificates in the account's name. */
export interface AccountKey {
  /** Public key, as the authority gets it. */
  jwk: JWK;
  /** Returns the content of a challenge's file. */
  authorize(token: string): string;
  /** Signs a request body (RFC 7515, flattened). A null payload reads the resource at `protectedHeader.url`. */
  seal(protectedHeader: Record<string, unknown>, payload: object | null): Promise<string>;
}

/** Reads the key at `path`, or creates it. A damaged key is never replaced, because the account would be lost. */
export async function openAccountKey(path: string): Promise<AccountKey> {
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    replaceFile(path, String(privateKey.export({ type: "pkcs8", format: "pem" })), 0o600);
  }
  const key = createPrivateKey(readFileSync(path, "utf8"));
  const jwk = await exportJWK(createPublicKey(key));
  const thumbprint = await calculateJwkThumbprint(jwk);
  return {
    jwk,
    authorize: (token) => `${token}.${thumbprint}`,
    async seal(protectedHeader, payload) {
      const body = new TextEncoder().encode(payload === null ? "" : JSON.stringify(payload));
      const head = { alg: "ES256", ...protectedHeader };
      return JSON.stringify(await new FlattenedSign(body).setProtectedHeader(head).sign(key));
    },
  };
}
