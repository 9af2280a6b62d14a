import type { Seal } from "../../lib/seal.ts";
import type { WebhookRow } from "./row.ts";

/** Signing secrets of a webhook. `previous` signs, too, until its overlap ends. */
interface WebhookSecrets {
  /** Null for per-run webhooks, which have no secret. */
  secret: string | null;
  previous: string | null;
  /** Headers by which the receiver authenticates the sender. */
  headers?: Record<string, string>;
}

type Owner = Pick<WebhookRow, "project_id" | "environment" | "id">;

// Sealing context: secrets that are copied to another webhook or project do not open.
const context = ({ project_id, environment, id }: Owner) => `webhook/${project_id}/${environment}/${id}`;

export const sealWebhookSecrets = (seal: Seal, owner: Owner, secrets: WebhookSecrets): string =>
  seal.seal(JSON.stringify(secrets), context(owner));

export const openWebhookSecrets = (seal: Seal, owner: Owner, sealed: string): WebhookSecrets =>
  JSON.parse(seal.open(sealed, context(owner)));

/** Secrets that sign at this time, newest first. */
export function signingSecrets(seal: Seal, webhook: WebhookRow, now: number): string[] {
  const { secret, previous } = openWebhookSecrets(seal, webhook, webhook.sealed);
  if (secret === null || webhook.run_id !== null) return [];
  const overlaps = previous !== null && webhook.previous_until_ms !== null && now < webhook.previous_until_ms;
  return overlaps ? [secret, previous] : [secret];
}

/** Displayed prefix of a secret: the first four characters after `whsec_`. */
export const prefixOf = (secret: string): string => secret.slice(0, "whsec_".length + 4);
