import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { environments } from "../scope.ts";
import { scoreSources } from "./enums.ts";
import { envelope } from "./schema.ts";

/** A rating of a run. */
export const Score = t.named(
  "Score",
  t.object({
    id: t.text,
    object: t.word("score"),
    run_id: t.text,
    agent_id: t.text,
    thread_id: t.orNull(t.text),
    name: t.text,
    value: t.number,
    comment: t.orNull(t.text),
    source: t.oneOf(scoreSources),
    author_id: t.orNull(t.text),
    created_at: t.time,
    updated_at: t.time,
    project_id: t.text,
    environment: t.oneOf(environments),
    ...envelope,
  }),
);
export type Score = Static<typeof Score>;
