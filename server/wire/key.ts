import type { Static } from "@sinclair/typebox";
import { environments, permissions } from "../core/scope.ts";
import { keyStatuses } from "./names.ts";
import {
  envelope,
  integer,
  list,
  map,
  named,
  object,
  oneOf,
  optional,
  orNull,
  resource,
  text,
  time,
  word,
} from "./schema.ts";

const status = oneOf(keyStatuses);

const apiKey = {
  name: text,
  prefix: text,
  last4: text,
  scopes: list(oneOf(permissions)),
  status,
  agent_ids: orNull(list(text)),
  allowed_cidrs: orNull(list(text)),
  created_by: text,
  last_used_at: orNull(time),
  last_used_ip: orNull(text),
  expires_at: orNull(time),
  revoked_at: orNull(time),
  exposed_at: orNull(time),
  rotated_to: orNull(text),
  rotated_from: orNull(text),
};

/** With its secret only where it has just been made. */
export const ApiKey = resource("ApiKey", "api_key", { ...apiKey, secret: optional(text) });
export type ApiKey = Static<typeof ApiKey>;

export const RotatedApiKey = resource("RotatedApiKey", "api_key", {
  ...apiKey,
  secret: text,
  previous: object({ id: text, status, expires_at: time }),
});
export type RotatedApiKey = Static<typeof RotatedApiKey>;

/** Who a key is, and what is left of its limits. */
export const Me = named(
  "Me",
  object({
    object: word("me"),
    id: text,
    scopes: list(oneOf(permissions)),
    project_id: text,
    project: text,
    environment: oneOf(environments),
    agent_ids: orNull(list(text)),
    key: orNull(
      object({
        name: text,
        status,
        expires_at: orNull(time),
        rotated_to: orNull(text),
        exposed_at: orNull(time),
      }),
    ),
    limits: map(integer),
    rate_limits: map(orNull(object({ limit: integer, remaining: integer, reset: integer }))),
    runs_in_progress: orNull(object({ limit: integer, remaining: integer })),
    children_per_run: orNull(integer),
    ...envelope,
  }),
);
export type Me = Static<typeof Me>;
