import { type Static, Type } from "@sinclair/typebox";
import { labelPattern } from "../../domain/agent-label.ts";
import { limits } from "../../domain/limits.ts";
import { about, closedObject, named, orNull } from "../../lib/schema.ts";

/** Name of a label. */
export const LabelName = Type.String({
  pattern: labelPattern,
  examples: ["production"],
  maxLength: limits.label_length,
});

const Version = Type.Integer({ minimum: 1, maximum: 1e15 });
const ExpectedRevision = about(
  "The revision that you have read: with another one now, the request fails with 409.",
  Type.Optional(Type.Integer({ minimum: 0 })),
);

/** Body of `PUT /v1/agents/:id/labels/:label`: what the label holds from now on. */
export const PutLabel = closedObject({
  version: about("The version that all runs get.", Type.Optional(Version)),
  split: about(
    "Two versions with their percents, which are 100 together. A thread keeps its version, else a user.",
    Type.Optional(
      Type.Array(
        named(
          "AgentLabelShareInput",
          closedObject({
            version: about("The number of the agent's version, from 1.", Version),
            percent: about(
              "Which part of the runs gets it, with two decimals at most.",
              Type.Number({ minimum: 0, maximum: 100 }),
            ),
          }),
        ),
        { minItems: 2, maxItems: 2 },
      ),
    ),
  ),
  rollback_on: about(
    "When the server rolls the label back by itself; null: never. Default: null.",
    Type.Optional(
      orNull(
        named(
          "AgentLabelRollbackRuleInput",
          closedObject({
            failure_rate: about(
              "From which share of failed runs of the newer version on, up to 1.",
              Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
            ),
            score: about(
              "Below which mean of a score of the newer version's runs.",
              Type.Optional(
                named(
                  "AgentLabelScoreRuleInput",
                  closedObject({
                    name: about(
                      "What is scored, as the scores of runs name it.",
                      Type.String({ minLength: 1, maxLength: 64 }),
                    ),
                    below: about(
                      "The mean of the scores below which the label is rolled back.",
                      Type.Number({ minimum: -1e12, maximum: 1e12 }),
                    ),
                  }),
                ),
              ),
            ),
            min_runs: about(
              "How many runs must have ended, or been scored, before it counts. Default: 20.",
              Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
            ),
          }),
        ),
      ),
    ),
  ),
  expected_revision: about(
    "The revision that you have read, 0 for a new label: with another one now, the request fails with 409.",
    ExpectedRevision,
  ),
});
export type PutLabel = Static<typeof PutLabel>;

export const RollBackLabel = closedObject({ expected_revision: ExpectedRevision });
export type RollBackLabel = Static<typeof RollBackLabel>;
