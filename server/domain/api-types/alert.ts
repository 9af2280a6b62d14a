import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";

/** A problem that an operator should look at, or should have looked at. */
export const Alert = t.named(
  "Alert",
  t.object({
    id: t.text,
    object: t.word("alert"),
    rule: t.text,
    concerns: t.oneOf(["environment", "server"]),
    subject: t.orNull(t.text),
    detail: t.text,
    when: t.text,
    todo: t.text,
    opened_at: t.time,
    closed_at: t.orNull(t.time),
  }),
);
export type Alert = Static<typeof Alert>;

/** A cell of a cluster taken over by another node after its leader went silent. */
export const Cell = t.named(
  "Cell",
  t.object({
    id: t.text,
    object: t.word("cell"),
    epoch: t.integer,
    leader: t.text,
    previous_leader: t.text,
    lease_ended_at: t.time,
    led_at: t.time,
  }),
);
export type Cell = Static<typeof Cell>;
