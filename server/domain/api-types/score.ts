import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { scoreSources } from "./enums.ts";
import { CreatedAt, Environment, objectOf, ownId, ProjectId, RunId, UpdatedAt } from "./fields.ts";
import { envelope } from "./schema.ts";

/** A rating of a run. */
export const Score = t.named(
  "Score",
  t.object({
    id: ownId("score"),
    object: objectOf("score"),
    run_id: RunId,
    agent_id: t.about("The agent of the run.", t.text),
    thread_id: t.about("The thread of the run; null: none.", t.orNull(t.text)),
    name: t.about(
      "What is scored. People who chat give `feedback`, from 0, which is bad, to 1, which is good.",
      t.text,
    ),
    value: t.about("How good it is, on a scale of your own.", t.number),
    comment: t.about("What the person or the program wrote beside the value; null: nothing.", t.orNull(t.text)),
    source: t.about(
      "Whether it was given with a client token, with an API key or at the dashboard.",
      t.oneOf(scoreSources),
    ),
    author_id: t.about(
      "Who gave it: the `user_id` of a client token, or a person at the dashboard. Null: an API key, or no particular person.",
      t.orNull(t.text),
    ),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    project_id: ProjectId,
    environment: Environment,
    ...envelope,
  }),
);
export type Score = Static<typeof Score>;
