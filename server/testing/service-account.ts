import { generateKeyPairSync } from "node:crypto";

/** A key of a service account of Google Cloud as its console hands it out, and the public key that checks its proofs. */
export function testServiceAccount(token_uri = "https://oauth2.googleapis.com/token") {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const account = {
    type: "service_account",
    project_id: "shop-123",
    private_key_id: "0123456789abcdef0123456789abcdef01234567",
    private_key: privateKey,
    client_email: `runnel-${crypto.randomUUID()}@shop-123.iam.gserviceaccount.com`,
    token_uri,
  };
  return { account, publicKey };
}
