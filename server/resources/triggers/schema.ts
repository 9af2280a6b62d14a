import { type Static, Type } from "@sinclair/typebox";
import { missingPolicies, triggerOutcomes, triggerVerifications } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import {
  AgentReference,
  Budget,
  changeableChoice,
  EnabledInput,
  GivenName,
  idOf,
  Metadata,
  VariableValues,
} from "../../http/schemas.ts";
import { about, closedObject, named, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

const Path = Type.String({ minLength: 1, maxLength: 256 });
const Values = Type.Array(Type.Union([Type.String({ maxLength: 1024 }), Type.Number(), Type.Boolean()]), {
  minItems: 1,
  maxItems: 100,
});
const Secret = Type.String({ minLength: 1, maxLength: 512 });

const required = {
  name: GivenName,
  agent_id: about("The agent: its id, or its name, also as `name@label` or `name@version`.", AgentReference),
};

const optional = {
  ...changeableChoice,
  secret_header: about(
    "The header with the shared secret; null: `Authorization`, as a bearer token or a password.",
    orNull(Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" })),
  ),
  enabled: EnabledInput,
  input: about(
    "The template of the input, such as `Triage {{body.issue.title}}`; null: the event, marked as untrusted.",
    orNull(Type.String({ minLength: 1, maxLength: limits.trigger_template_length })),
  ),
  variables: about(
    "Values of the agent's variables, by name: a text is a template, such as `{{body.customer.name}}`; null: none.",
    orNull(VariableValues),
  ),
  on_missing: about(
    "What happens if the event lacks a value of a template: it is empty, or the event is rejected.",
    oneOf(missingPolicies),
  ),
  filter: about(
    "The conditions that an event must meet to make a run: all of them.",
    Type.Array(
      named(
        "TriggerConditionInput",
        closedObject({
          path: about("Where the value is in the event, such as `body.action`.", Path),
          in: about("The event passes if the value at `path` is one of these.", Type.Optional(Values)),
          not_in: about("The event passes if the value at `path` is none of these, or missing.", Type.Optional(Values)),
        }),
      ),
      { maxItems: 20 },
    ),
  ),
  dedupe: about(
    "The place of the event's id: of two events with the same one, the first makes a run; null: events are not compared by an id. Default: where the sender has its ids.",
    orNull(Path),
  ),
  thread: about("The place of the value whose events share a thread; null: no thread.", orNull(Path)),
  user: about("The place of the `user_id` of its runs; null: none.", orNull(Path)),
  budget: about("What each run may spend; null: no budget of its own.", orNull(Budget)),
  rate_limit_per_minute: about("How many events it takes per minute.", Type.Integer({ minimum: 1, maximum: 6000 })),
  metadata: Metadata,
};

export const CreateTrigger = partly(
  { ...required, verification: about("How it is verified who sent an event.", oneOf(triggerVerifications)) },
  {
    ...optional,
    secret: about(
      "The secret that the sender has. Default: a new one; for `stripe` and `slack` none, until you set theirs.",
      Secret,
    ),
  },
);
export type CreateTrigger = Static<typeof CreateTrigger>;

export const UpdateTrigger = partial({ ...required, ...optional });
export type UpdateTrigger = Static<typeof UpdateTrigger>;

/** Body of `POST /v1/triggers/:id/rotate_secret`. */
export const RotateTriggerSecret = partial({
  secret: about("The new secret. Default: one that is made for you. `stripe` and `slack` need theirs.", Secret),
  overlap_seconds: about(
    "How many seconds the old secret stays valid.",
    Type.Integer({ minimum: 0, maximum: 7 * 24 * 3600 }),
  ),
});
export type RotateTriggerSecret = Static<typeof RotateTriggerSecret>;

export const triggerFilters = { agent_id: about("Only items of this agent.", idOf("agent")) };
export const triggerDeliveryFilters = { outcome: about("Only items with this outcome.", oneOf(triggerOutcomes)) };
