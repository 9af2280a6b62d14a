import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import type { VariableValues } from "../variable.ts";
import { VariableValue } from "./agent.ts";
import { missingPolicies, triggerOutcomes, triggerVerifications } from "./enums.ts";
import { AgentId, Enabled, Name, UpdatedAt } from "./fields.ts";
import { resource } from "./schema.ts";

const FilterValue = t.withType<string | number | boolean>({ type: ["string", "number", "boolean"] } as never);

const FilterCondition = t.named(
  "TriggerCondition",
  t.object({
    path: t.about("Where the value is in the event, such as `body.action`.", t.text),
    in: t.about("The event passes if the value at `path` is one of these.", t.optional(t.list(FilterValue))),
    not_in: t.about(
      "The event passes if the value at `path` is none of these, or missing.",
      t.optional(t.list(FilterValue)),
    ),
  }),
);

/** Includes its secret only in the response that creates or rotates it. */
export const Trigger = resource("Trigger", "trigger", {
  name: Name,
  agent_id: AgentId,
  version: t.about(
    "The version of the agent; null: the newest at each run, or that of the label.",
    t.orNull(t.integer),
  ),
  label: t.about("The label of the agent that chooses the version at each run; null: none.", t.orNull(t.text)),
  url: t.about("The address to which the sender posts its events. It needs no API key.", t.text),
  verification: t.about("How it is verified who sent an event.", t.oneOf(triggerVerifications)),
  secret_header: t.about(
    "The header with the shared secret; null: `Authorization`, as a bearer token or a password.",
    t.orNull(t.text),
  ),
  has_secret: t.about("Whether it has a secret. Without one, every event is refused.", t.boolean),
  previous_secret_expires_at: t.about(
    "Until when the previous secret is valid, too; null: there is none.",
    t.orNull(t.time),
  ),
  enabled: Enabled,
  input: t.about("The template of the input; null: the event, marked as untrusted.", t.orNull(t.text)),
  variables: t.about(
    "Values of the agent's variables, by name: a text is a template; null: none.",
    t.orNull(t.withType<VariableValues>(t.map(VariableValue))),
  ),
  on_missing: t.about(
    "What happens if the event lacks a value of a template: it is empty, or the event is rejected.",
    t.oneOf(missingPolicies),
  ),
  filter: t.about("The conditions that an event must meet to make a run.", t.list(FilterCondition)),
  dedupe: t.about(
    "The place of the event's id: of two events with the same one, the first makes a run; null: none.",
    t.orNull(t.text),
  ),
  thread: t.about("The place of the value whose events share a thread; null: no thread.", t.orNull(t.text)),
  user: t.about("The place of the `user_id` of its runs; null: none.", t.orNull(t.text)),
  budget: t.about("What each run may spend; null: no budget of its own.", t.orNull(t.anyObject)),
  rate_limit_per_minute: t.about("How many events it takes per minute.", t.integer),
  last_run_id: t.about("Its newest run; null where there is none.", t.orNull(t.text)),
  last_event_at: t.about("When the last verified event came; null: never.", t.orNull(t.time)),
  updated_at: UpdatedAt,
  secret: t.about("The secret, shown only once.", t.optional(t.text)),
});
export type Trigger = Static<typeof Trigger>;

/** A request at the address of a trigger. */
export const TriggerDelivery = resource("TriggerDelivery", "trigger_delivery", {
  trigger_id: t.about("Id of the trigger whose address was called: `trg_…`.", t.text),
  outcome: t.about(
    "`started` a run, a `duplicate` of an event that did, `ignored` by the filter, `failed` to start one, or `refused` because of its signature.",
    t.oneOf(triggerOutcomes),
  ),
  status: t.about("What the sender was answered, as an HTTP status such as 202.", t.integer),
  run_id: t.about("Id of the run that the event made: `run_…`; null where it made none.", t.orNull(t.text)),
  reason: t.about("Why it made no run; null if it did.", t.orNull(t.text)),
});
export type TriggerDelivery = Static<typeof TriggerDelivery>;
