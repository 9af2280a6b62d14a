import type { Seal } from "../lib/seal.ts";
import type { WebhookRow } from "./row.ts";

/** What a webhook signs with. `previous` signs too until its time is up. */
interface WebhookSecrets {
  /** Null for those who follow one run: nobody was given it. */
  secret: string | null;
  previous: string | null;
  /** Headers that the receiver knows the sender by. */
  headers?: Record<string, string>;
}

type Owner = Pick<WebhookRow, "project_id" | "environment" | "id">;

// The row that the text belongs to: moved into another webhook or project it does not open.
const context = ({ project_id, environment, id }: Owner) => `webhook/${project_id}/${environment}/${id}`;

export const sealWebhookSecrets = (seal: Seal, owner: Owner, secrets: WebhookSecrets): string =>
  seal.seal(JSON.stringify(secrets), context(owner));

export const openWebhookSecrets = (seal: Seal, owner: Owner, sealed: string): WebhookSecrets =>
  JSON.parse(seal.open(sealed, context(owner)));

/** The secrets that sign at this time, the newest first. */
export function signingSecrets(seal: Seal, webhook: WebhookRow, now: number): string[] {
  const { secret, previous } = openWebhookSecrets(seal, webhook, webhook.sealed);
  if (secret === null || webhook.run_id !== null) return [];
  const overlaps = previous !== null && webhook.previous_until_ms !== null && now < webhook.previous_until_ms;
  return overlaps ? [secret, previous] : [secret];
}

/** What a secret is known by: its first four characters behind `whsec_`. */
export const prefixOf = (secret: string): string => secret.slice(0, "whsec_".length + 4);
