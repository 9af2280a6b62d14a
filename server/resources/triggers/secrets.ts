import { randomBytes } from "node:crypto";
import type { TriggerVerification } from "../../domain/api-types/enums.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Seal } from "../../lib/seal.ts";
import { newSigningSecret } from "../../lib/signature.ts";

/** Secrets of a trigger. `previous` is valid, too, until its overlap ends. */
interface TriggerSecrets {
  /** Null until the secret that the sender gives is set. */
  secret: string | null;
  previous: string | null;
}

type Owner = Scope & { id: string };

// Sealing context: secrets that are copied to another trigger or project do not open.
const context = ({ project_id, environment, id }: Owner) => `trigger/${project_id}/${environment}/${id}`;

export const sealTriggerSecrets = (seal: Seal, owner: Owner, secrets: TriggerSecrets): string =>
  seal.seal(JSON.stringify(secrets), context(owner));

export const openTriggerSecrets = (seal: Seal, owner: Owner, sealed: string): TriggerSecrets =>
  JSON.parse(seal.open(sealed, context(owner)));

/** Verifications whose sender makes the secret. */
export const isSendersSecret = (verification: TriggerVerification): boolean =>
  verification === "stripe" || verification === "slack";

/** Returns a new secret; null if the sender makes it. */
export function newTriggerSecret(verification: TriggerVerification): string | null {
  if (isSendersSecret(verification)) return null;
  return verification === "standard_webhooks" ? newSigningSecret() : randomBytes(32).toString("hex");
}

const minLength = 16;

/** Returns the fault of a secret, or null. The secret has no spaces around it. */
export function secretFault(verification: TriggerVerification, secret: string): string | null {
  if (verification === "standard_webhooks") {
    const isKey = /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/.test(secret);
    const { length } = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    return isKey && length >= 24 && length <= 64 ? null : "Must be `whsec_` and 24 to 64 bytes in base64.";
  }
  if (!/^[\x20-\x7e]*$/.test(secret)) return "Must have printable ASCII characters only.";
  return secret.length >= minLength ? null : `Must have at least ${minLength} characters.`;
}
