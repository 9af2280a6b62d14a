import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { about, closedObject, orNull } from "../../lib/schema.ts";

/** Name of a score. */
export const ScoreName = Type.String({ pattern: "^[a-z][a-z0-9_.-]{0,63}$" });

/** Body of `PUT /v1/runs/:id/scores/:name`: the complete score. */
export const PutScore = closedObject({
  value: about(
    "How good it is, on a scale of your own. With a client token from 0 to 1.",
    Type.Number({ minimum: -1e12, maximum: 1e12 }),
  ),
  comment: about(
    "A comment. Default: null.",
    Type.Optional(orNull(Type.String({ maxLength: limits.score_comment_length }))),
  ),
});
export type PutScore = Static<typeof PutScore>;
