import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { clientScopes, environments, permissions } from "../scope.ts";
import { Budget } from "./agent.ts";
import { exposures, keyStatuses } from "./enums.ts";
import { envelope, resource } from "./schema.ts";

const status = t.oneOf(keyStatuses);

const apiKey = {
  name: t.text,
  prefix: t.text,
  last4: t.text,
  scopes: t.list(t.oneOf(permissions)),
  status,
  agent_ids: t.orNull(t.list(t.text)),
  allowed_cidrs: t.orNull(t.list(t.text)),
  created_by: t.text,
  last_used_at: t.orNull(t.time),
  last_used_ip: t.orNull(t.text),
  expires_at: t.orNull(t.time),
  revoked_at: t.orNull(t.time),
  exposed_at: t.orNull(t.time),
  exposure: t.orNull(t.oneOf(exposures)),
  rotated_to: t.orNull(t.text),
  rotated_from: t.orNull(t.text),
};

/** Includes its secret only in the response that creates it. */
export const ApiKey = resource("ApiKey", "api_key", { ...apiKey, secret: t.optional(t.text) });
export type ApiKey = Static<typeof ApiKey>;

export const RotatedApiKey = resource("RotatedApiKey", "api_key", {
  ...apiKey,
  secret: t.text,
  previous: t.named("PreviousApiKey", t.object({ id: t.text, status, expires_at: t.time })),
});
export type RotatedApiKey = Static<typeof RotatedApiKey>;

/** Token that limits a browser's rights and time. It is returned once and never stored. */
export const ClientToken = t.named(
  "ClientToken",
  t.object({
    object: t.word("client_token"),
    id: t.text,
    token: t.text,
    agent_id: t.text,
    thread_id: t.orNull(t.text),
    run_id: t.orNull(t.text),
    user_id: t.orNull(t.text),
    scopes: t.list(t.oneOf(clientScopes)),
    limits: t.named(
      "ClientTokenLimits",
      t.object({ requests_per_minute: t.integer, run_creations_per_minute: t.integer }),
    ),
    budget: t.orNull(Budget),
    expires_at: t.time,
    ...envelope,
  }),
);
export type ClientToken = Static<typeof ClientToken>;

/** Named, because SDK generators would otherwise give the map and its values the same name. */
const RateLimit = t.named("RateLimit", t.object({ limit: t.integer, remaining: t.integer, reset: t.integer }));

/** The API key of the request, and the rest of its rate limits. */
export const Me = t.named(
  "Me",
  t.object({
    object: t.word("me"),
    id: t.text,
    scopes: t.list(t.oneOf(permissions)),
    project_id: t.text,
    project: t.text,
    environment: t.oneOf(environments),
    agent_ids: t.orNull(t.list(t.text)),
    key: t.orNull(
      t.object({
        name: t.text,
        status,
        expires_at: t.orNull(t.time),
        rotated_to: t.orNull(t.text),
        exposed_at: t.orNull(t.time),
      }),
    ),
    limits: t.map(t.integer),
    rate_limits: t.map(t.orNull(RateLimit)),
    runs_in_progress: t.orNull(t.named("RunsInProgress", t.object({ limit: t.integer, remaining: t.integer }))),
    children_per_run: t.orNull(t.integer),
    ...envelope,
  }),
);
export type Me = Static<typeof Me>;
