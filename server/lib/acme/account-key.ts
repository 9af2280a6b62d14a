import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { replaceFile } from "../replace-file.ts";

/** Key of an account at a certificate authority. Its holder may order certificates in the account's name. */
export interface AccountKey {
  /** Public key, as the authority gets it. */
  jwk: { crv: string; kty: string; x: string; y: string };
  /** Returns the content of a challenge's file. */
  authorize(token: string): string;
  /** Signs a request body (RFC 7515, flattened). A null payload reads the resource at `protectedHeader.url`. */
  seal(protectedHeader: Record<string, unknown>, payload: object | null): string;
}

/** Reads the key at `path`, or creates it. A damaged key is never replaced, because the account would be lost. */
export function openAccountKey(path: string): AccountKey {
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    replaceFile(path, String(privateKey.export({ type: "pkcs8", format: "pem" })), 0o600);
  }
  return accountKey(readFileSync(path, "utf8"));
}

function accountKey(pem: string): AccountKey {
  const key = createPrivateKey(pem);
  const { crv, kty, x, y } = createPublicKey(key).export({ format: "jwk" }) as AccountKey["jwk"];
  const jwk = { crv, kty, x, y }; // Members in the order of RFC 7638, because this text is hashed.
  const thumbprint = createHash("sha256").update(JSON.stringify(jwk)).digest("base64url");
  return {
    jwk,
    authorize: (token) => `${token}.${thumbprint}`,
    seal(protectedHeader, payload) {
      const head = base64url(JSON.stringify({ alg: "ES256", ...protectedHeader }));
      const body = payload === null ? "" : base64url(JSON.stringify(payload));
      const signature = sign("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" });
      return JSON.stringify({ protected: head, payload: body, signature: signature.toString("base64url") });
    },
  };
}

const base64url = (text: string): string => Buffer.from(text).toString("base64url");
