import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { labelReasons, rollbackCauses } from "../agent-label.ts";
import { actorTypes } from "./enums.ts";
import { AgentId, CreatedAt, Environment, objectOf, ownId, ProjectId, UpdatedAt } from "./fields.ts";
import { envelope } from "./schema.ts";

const Version = t.about("The version; null where the label splits.", t.orNull(t.integer));
const Split = t.about(
  "Two versions with their percents, the newer one first; null where the label holds one.",
  t.orNull(
    t.list(
      t.named(
        "AgentLabelShare",
        t.object({
          version: t.about("The number of the agent's version, from 1.", t.integer),
          percent: t.about("Which part of the runs gets it, from 0 to 100.", t.number),
        }),
      ),
    ),
  ),
);
const Revision = t.about("How often the label was moved, from 1.", t.integer);

const RollbackOn = t.named(
  "AgentLabelRollbackRule",
  t.object({
    failure_rate: t.about("From which share of failed runs on.", t.optional(t.number)),
    score: t.about(
      "Which score's mean it must not fall below.",
      t.optional(
        t.named(
          "AgentLabelScoreRule",
          t.object({
            name: t.about("What is scored, as the scores of runs name it.", t.text),
            below: t.about("The mean of the scores below which the label is rolled back.", t.number),
          }),
        ),
      ),
    ),
    min_runs: t.about("How many runs must have ended, or been scored, before it counts.", t.integer),
  }),
);

const label = {
  id: ownId("label"),
  object: objectOf("agent_label"),
  agent_id: AgentId,
  name: t.about("Its name, unique for the agent.", t.text),
  version: Version,
  split: Split,
  rollback_on: t.about(
    "When the server rolls the label back by itself, judged by up to 1,000 of the newest runs of the newer version; null: never.",
    t.orNull(RollbackOn),
  ),
  revision: Revision,
  reason: t.about("Why it holds them: it was set, rolled back, or rolled back by the server.", t.oneOf(labelReasons)),
  moved_at: t.about("Since when the label holds these versions, whatever their percents were.", t.time),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
  project_id: ProjectId,
  environment: Environment,
};

export const AgentLabel = t.named("AgentLabel", t.object({ ...label, ...envelope }));
export type AgentLabel = Static<typeof AgentLabel>;

/** A label that the server has rolled back by itself. */
export const RolledBackLabel = t.named(
  "RolledBackAgentLabel",
  t.object({
    ...label,
    rolled_back_version: t.about("The version that the label no longer holds.", t.integer),
    cause: t.about("Which bound of the rule was reached.", t.oneOf(rollbackCauses)),
  }),
);

export const AgentLabelRevision = t.named(
  "AgentLabelRevision",
  t.object({
    id: t.about("The id of the label, which all of its revisions share: `lbl_…`.", t.text),
    object: objectOf("agent_label_revision"),
    revision: Revision,
    version: Version,
    split: Split,
    reason: t.about("Whether it was set, rolled back, or rolled back by the server.", t.oneOf(labelReasons)),
    restores: t.about("Of a rollback: the revision that it restored. Null for others.", t.orNull(t.integer)),
    actor: t.about(
      "Who moved it.",
      t.named(
        "AgentLabelActor",
        t.object({
          type: t.about("Whether a key, a person or the command line did it.", t.oneOf(actorTypes)),
          id: t.about("The key or the person, by the id that the audit log has too.", t.text),
        }),
      ),
    ),
    created_at: CreatedAt,
  }),
);
export type AgentLabelRevision = Static<typeof AgentLabelRevision>;

const Milliseconds = t.orNull(t.number);

const VersionReport = t.named(
  "AgentLabelVersionReport",
  t.object({
    version: t.about("The number of the agent's version, from 1.", t.integer),
    percent: t.about("Which part of the runs gets it, from 0 to 100.", t.number),
    runs: t.about("Runs that were started, also those that have not ended.", t.integer),
    completed: t.about("Runs of this version that reached their output.", t.integer),
    failed: t.about("Runs of this version that ended with an error.", t.integer),
    cancelled: t.about("Runs of this version that a request ended.", t.integer),
    failure_rate: t.about(
      "The failed among those that completed or failed, from 0 to 1; null where there are none.",
      t.orNull(t.number),
    ),
    mean_ms: t.about(
      "How long completed and failed runs worked on average, in milliseconds; null where there are none.",
      Milliseconds,
    ),
    median_ms: t.about(
      "How long half of them worked at most, in milliseconds; null where there are none.",
      Milliseconds,
    ),
    input_tokens: t.about("Tokens of the prompts of ended runs.", t.integer),
    output_tokens: t.about("Tokens of the answers of ended runs.", t.integer),
    cost_usd: t.about("What they cost in US dollars, as far as it is known.", t.number),
    scores: t.about(
      "What these runs were scored, one entry for each name.",
      t.list(
        t.named(
          "AgentLabelScore",
          t.object({
            name: t.about("What is scored, as the scores of runs name it.", t.text),
            count: t.about("How many scores were given.", t.integer),
            mean: t.about("Mean of these scores, on the scale of those who gave them.", t.number),
          }),
        ),
      ),
    ),
  }),
);

export const AgentLabelReport = t.named(
  "AgentLabelReport",
  t.object({
    id: t.about("The id of the label, which all of its revisions share: `lbl_…`.", t.text),
    object: objectOf("agent_label_report"),
    agent_id: AgentId,
    name: t.about("The name of the label, such as `production`.", t.text),
    since: t.about("Since when the runs are counted: since the label holds these versions.", t.time),
    versions: t.about(
      "The versions that the label holds, the newer one first: the newest 10,000 runs of each.",
      t.list(VersionReport),
    ),
    ...envelope,
  }),
);
export type AgentLabelReport = Static<typeof AgentLabelReport>;
