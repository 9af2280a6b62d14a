import type { Static } from "@sinclair/typebox";
import { environments } from "../core/scope.ts";
import * as t from "../lib/schema.ts";
import { scoreSources } from "./names.ts";
import { envelope } from "./schema.ts";

/** What somebody thinks of a run. */
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
