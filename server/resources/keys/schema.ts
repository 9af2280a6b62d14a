import { type Static, Type } from "@sinclair/typebox";
import { clientScopes, permissions } from "../../domain/scope.ts";
import {
  AgentReference,
  Budget,
  GivenName,
  idOf,
  Metadata,
  Subject,
  VariableValues,
  versionChoice,
} from "../../http/schemas.ts";
import { about, closedObject, named, oneOf, orNull } from "../../lib/schema.ts";

const Lifetime = Type.Integer({ minimum: 1, maximum: 10 * 365 * 86_400 });

export const CreateKey = closedObject({
  name: GivenName,
  scopes: about(
    "What the key may do: `read` reads, `run` starts runs, `admin` changes everything.",
    Type.Array(oneOf(permissions), { minItems: 1, maxItems: 3, uniqueItems: true }),
  ),
  expires_in_seconds: about("After how many seconds it expires. Default: never.", Type.Optional(Lifetime)),
  // The form of agent ids is checked in validate.ts, because a union's error would not name the invalid one.
  agent_ids: about(
    "The only agents that the key may use; null: all.",
    Type.Optional(orNull(Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true }))),
  ),
  allowed_cidrs: about(
    "Networks from which the key may be used; null: all.",
    Type.Optional(orNull(Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 100 }))),
  ),
  metadata: Type.Optional(Metadata),
});
export type CreateKey = Static<typeof CreateKey>;

/** Rights cannot be changed, because the holder of the secret relies on them. */
export const UpdateKey = closedObject({
  name: Type.Optional(GivenName),
  /** Null: never. */
  expires_at: about("When the key expires; null: never.", Type.Optional(orNull(Type.String({ maxLength: 64 })))),
  metadata: Type.Optional(Metadata),
});
export type UpdateKey = Static<typeof UpdateKey>;

export const RotateKey = closedObject({
  overlap_seconds: about(
    "How many seconds the old one stays valid beside the new one.",
    Type.Optional(Type.Integer({ minimum: 0, maximum: 30 * 86_400, default: 86_400 })),
  ),
  expires_in_seconds: about("After how many seconds the new key expires.", Type.Optional(Lifetime)),
});
export type RotateKey = Static<typeof RotateKey>;

const PerMinute = Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 }));

/** Body of `POST /v1/client_tokens`. */
export const CreateClientToken = closedObject({
  agent_id: about(
    "The agent whose runs it starts and reads: its id, or its name, also as `name@label` or `name@version`.",
    AgentReference,
  ),
  version: Type.Optional(versionChoice.version),
  label: Type.Optional(versionChoice.label),
  thread_id: about("The only thread that it sees and speaks in.", Type.Optional(idOf("thread"))),
  run_id: about("The only run that it sees.", Type.Optional(idOf("run"))),
  user_id: about(
    "Whom its runs are for, and whose runs and threads it sees. Default: the token's own id.",
    Type.Optional(Subject),
  ),
  scopes: about(
    "What it may do: `run` starts and cancels runs, `read` reads them, `submit` answers what they ask for, `score` scores them, `upload` gives them files.",
    Type.Array(oneOf(clientScopes), { minItems: 1, maxItems: clientScopes.length, uniqueItems: true }),
  ),
  expires_in_seconds: about(
    "How many seconds it lasts; it ends with its key at the latest.",
    Type.Integer({ minimum: 1, maximum: 86_400 }),
  ),
  limits: about(
    "Its rate limits; the project's limits apply too.",
    Type.Optional(
      named(
        "ClientTokenLimitsInput",
        closedObject({
          requests_per_minute: about("Requests of all kinds, per minute.", PerMinute),
          run_creations_per_minute: about("Requests per minute that start runs.", PerMinute),
        }),
      ),
    ),
  ),
  variables: about(
    "Values of the agent's variables for its runs. They go before all others, and its holder neither sees nor changes them.",
    Type.Optional(VariableValues),
  ),
  budget: about("What each run that it starts may spend at most. Default: what its agent may.", Type.Optional(Budget)),
});
export type CreateClientToken = Static<typeof CreateClientToken>;
