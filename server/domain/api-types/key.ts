import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { clientScopes, permissions } from "../scope.ts";
import { Budget, VariableValue } from "./agent.ts";
import { exposures, keyStatuses } from "./enums.ts";
import { Environment, ExpiresAt, Name, ownId, ProjectId } from "./fields.ts";
import { envelope, resource } from "./schema.ts";

const status = t.oneOf(keyStatuses);

const apiKey = {
  name: Name,
  prefix: t.about("The beginning of the secret, by which the key is known.", t.text),
  last4: t.about("The last four characters of the secret.", t.text),
  scopes: t.about(
    "What the key may do: `read` reads, `run` starts runs, `admin` changes everything.",
    t.list(t.oneOf(permissions)),
  ),
  status: t.about(
    "Whether the key works. One that is `rotating` has a successor, and works until `expires_at`.",
    status,
  ),
  agent_ids: t.about("The only agents that the key may use; null: all.", t.orNull(t.list(t.text))),
  allowed_cidrs: t.about("Networks from which the key may be used; null: all.", t.orNull(t.list(t.text))),
  created_by: t.about("Who made the key: the id of a key or a person, or `cli`.", t.text),
  last_used_at: t.about("When the key was last used; null: never.", t.orNull(t.time)),
  last_used_ip: t.about("From which address the key was last used; null: never.", t.orNull(t.text)),
  expires_at: t.about("When the key expires; null: never.", t.orNull(t.time)),
  revoked_at: t.about("When the key was revoked; null: never.", t.orNull(t.time)),
  exposed_at: t.about("When the key was sent over an unencrypted connection; null: never.", t.orNull(t.time)),
  exposure: t.about(
    "What followed: `revoked`; `kept` (a test key, or by `--revoke-exposed-keys off`); kept as the `last_admin_key`; or `local`, since it came from the server's own machine. Null: it was never exposed.",
    t.orNull(t.oneOf(exposures)),
  ),
  rotated_to: t.about("The key that followed this one; null for others.", t.orNull(t.text)),
  rotated_from: t.about("The key that this one followed; null for others.", t.orNull(t.text)),
};

/** Includes its secret only in the response that creates it. */
export const ApiKey = resource("ApiKey", "api_key", {
  ...apiKey,
  secret: t.about("The secret, shown only once.", t.optional(t.text)),
});
export type ApiKey = Static<typeof ApiKey>;

export const RotatedApiKey = resource("RotatedApiKey", "api_key", {
  ...apiKey,
  secret: t.about("The secret, shown only once.", t.text),
  previous: t.about(
    "The key before it, which is valid until it expires.",
    t.named(
      "PreviousApiKey",
      t.object({
        id: t.about("The id of the key that was rotated.", t.text),
        status: t.about("Always `rotating`: it works until `expires_at`.", status),
        expires_at: t.about("Until when the key is good.", t.time),
      }),
    ),
  ),
});
export type RotatedApiKey = Static<typeof RotatedApiKey>;

/** Token that limits a browser's rights and time. It is returned once and never stored. */
export const ClientToken = t.named(
  "ClientToken",
  t.object({
    object: t.about("Always `client_token`.", t.word("client_token")),
    id: ownId("client_token"),
    token: t.about("What a browser sends in place of an API key.", t.text),
    agent_id: t.about("The agent whose runs it starts and reads.", t.text),
    version: t.about(
      "The version of the agent for its runs; null: the newest, or that of the label.",
      t.orNull(t.integer),
    ),
    label: t.about("The label of the agent that chooses the version at each run; null: none.", t.orNull(t.text)),
    thread_id: t.about("The only thread that it sees; null: it is not bound to one.", t.orNull(t.text)),
    run_id: t.about("The only run that it sees; null: it is not bound to one.", t.orNull(t.text)),
    user_id: t.about(
      "Whom its runs are for, and whose runs and threads it sees; null where it is bound to a run or a thread.",
      t.orNull(t.text),
    ),
    scopes: t.about(
      "What it may do: `run` starts and cancels runs, `read` reads them, `submit` answers what they ask for, `score` scores them, `upload` gives them files.",
      t.list(t.oneOf(clientScopes)),
    ),
    limits: t.about(
      "Its rate limits; the project's limits apply too.",
      t.named(
        "ClientTokenLimits",
        t.object({
          requests_per_minute: t.about("Requests of all kinds, per minute.", t.integer),
          run_creations_per_minute: t.about("Requests per minute that start runs.", t.integer),
        }),
      ),
    ),
    variables: t.about("Values of the agent's variables for its runs; absent: none.", t.optional(t.map(VariableValue))),
    budget: t.about("What each run that it starts may spend at most; null: what its agent may.", t.orNull(Budget)),
    expires_at: t.about("When it expires; never later than the key that made it.", t.time),
    ...envelope,
  }),
);
export type ClientToken = Static<typeof ClientToken>;

/** Named, because SDK generators would otherwise give the map and its values the same name. */
const RateLimit = t.named(
  "RateLimit",
  t.object({
    limit: t.about("How many there may be at once, or in a minute.", t.integer),
    remaining: t.about("How many more are allowed at this moment.", t.integer),
    reset: t.about("When the limit resets fully, in Unix seconds.", t.integer),
  }),
);

/** The API key of the request, and the rest of its rate limits. */
export const Me = t.named(
  "Me",
  t.object({
    object: t.about("Always `me`.", t.word("me")),
    id: t.about("The id of the key or the person.", t.text),
    scopes: t.about("What the key or the person may do: `read`, `run` or `admin`.", t.list(t.oneOf(permissions))),
    project_id: ProjectId,
    project: t.about("The project by its name, for people; programs use `project_id`.", t.text),
    environment: Environment,
    agent_ids: t.about("The only agents that the key may use; null: all.", t.orNull(t.list(t.text))),
    key: t.about(
      "The key itself; null for a person.",
      t.orNull(
        t.object({
          name: Name,
          status: t.about("Whether the key works. One that is `rotating` has a successor.", status),
          expires_at: ExpiresAt,
          rotated_to: t.about("The key that followed this one; null for others.", t.orNull(t.text)),
          exposed_at: t.about("When the key was sent over an unencrypted connection; null: never.", t.orNull(t.time)),
        }),
      ),
    ),
    limits: t.about(
      "Fixed limits of requests, agents and runs, by the names that the page of limits explains.",
      t.map(t.integer),
    ),
    rate_limits: t.about("What remains of each limit per minute.", t.map(t.orNull(RateLimit))),
    runs_in_progress: t.about(
      "How many runs may be in progress at once, and how many remain; null: no limit.",
      t.orNull(
        t.named(
          "RunsInProgress",
          t.object({
            limit: t.about("How many there may be at once, or in a minute.", t.integer),
            remaining: t.about("How many more are allowed at this moment.", t.integer),
          }),
        ),
      ),
    ),
    children_per_run: t.about(
      "How many runs one run may start by calling agents; null: no limit.",
      t.orNull(t.integer),
    ),
    ...envelope,
  }),
);
export type Me = Static<typeof Me>;
