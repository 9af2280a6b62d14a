import type { Static } from "@sinclair/typebox";
import * as t from "../lib/schema.ts";

/** Something that somebody should look at, or should have. */
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
