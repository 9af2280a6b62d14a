import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { objectOf, ownId } from "./fields.ts";

/** A problem that an operator should look at, or should have looked at. */
export const Alert = t.named(
  "Alert",
  t.object({
    id: ownId("alert"),
    object: objectOf("alert"),
    rule: t.about("The name of the rule that found the problem, as the page of alerts lists it.", t.text),
    concerns: t.about(
      "Its scope: this environment of the project, or the whole server.",
      t.oneOf(["environment", "server"]),
    ),
    subject: t.about("The id of what it is about; null where there is only one.", t.orNull(t.text)),
    detail: t.about("What the server found when it opened the alert, with numbers.", t.text),
    when: t.about("When the rule opens an alert, in a sentence.", t.text),
    todo: t.about("What the operator should do about it, in a sentence.", t.text),
    opened_at: t.about("When the server found the problem, in UTC.", t.time),
    closed_at: t.about("When it was resolved; null while it is open.", t.orNull(t.time)),
  }),
);
export type Alert = Static<typeof Alert>;

/** A cell of a cluster taken over by another node after its leader went silent. */
export const Cell = t.named(
  "Cell",
  t.object({
    id: t.about("The name of the cell, such as `main`.", t.text),
    object: objectOf("cell"),
    epoch: t.about("How often a node has taken the cell.", t.integer),
    leader: t.about("The node that leads.", t.text),
    previous_leader: t.about("The node that led before.", t.text),
    lease_ended_at: t.about("Until when the former leader was known to lead.", t.time),
    led_at: t.about("When the present leader took the cell, in UTC.", t.time),
  }),
);
export type Cell = Static<typeof Cell>;
