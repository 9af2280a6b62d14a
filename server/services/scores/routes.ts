import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Score } from "../../domain/api-types/score.ts";
import { AppError } from "../../domain/errors.ts";
import type { Auth } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { plainListQuery, readPage } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { idOf, pathOf, pathWith } from "../../http/schemas.ts";
import { about } from "../../lib/schema.ts";
import { PutScore, ScoreName } from "./schema.ts";
import type { ScoreStore } from "./store.ts";

const filters = {
  run_id: about("The id of the run.", idOf("run")),
  thread_id: about("Only runs of this thread.", idOf("thread")),
  agent_id: about("Only items of this agent.", idOf("agent")),
  name: about("Only items with this name.", ScoreName),
};

/** `/v1/scores` and the scores of a run. Chat users give feedback here and see only their own. */
export const scoreRoutes = ({ auth, scores }: { auth: Auth; scores: ScoreStore }) =>
  new Elysia({ tags: ["Scores"] })
    .use(auth)
    .put(
      "/runs/:id/scores/:name",
      ({ principal, params: { id, name }, body }) => {
        requireFeedback(principal, name, body);
        return scores.put(principal, id, name, body);
      },
      {
        operation: {
          id: "runs.scores.set",
          summary: "Score a run, or change your score of it",
          needs: "run",
          client: "score",
          visitors: true,
          returns: Score,
        },
        params: pathWith({ id: about("The id.", idOf("run")), name: about("The name.", ScoreName) }),
        body: PutScore,
      },
    )
    .get("/scores", ({ principal, request }) => scores.list(principal, readPage(request.url, filters)), {
      operation: {
        id: "scores.list",
        summary: "List scores of runs",
        needs: "read_or_run",
        client: "score",
        visitors: true,
        query: { ...plainListQuery, ...filters },
        returns: listOf(Score),
      },
    })
    .delete("/scores/:id", ({ principal, params: { id } }) => scores.remove(principal, id), {
      operation: {
        id: "scores.delete",
        summary: "Delete a score",
        needs: "run",
        client: "score",
        visitors: true,
        returns: Deleted,
      },
      params: pathOf("score"),
    });

/** The only score that a chat user gives: 0 is bad, 1 is good. */
const feedback = "feedback";

/**
 * Throws for any score but feedback from a client token: another name could pass for a program's verdict, and another
 * scale would distort averages.
 */
function requireFeedback({ token }: Principal, name: string, { value }: PutScore): void {
  if (!token) return;
  if (name !== feedback)
    throw new AppError("insufficient_scope", `A client token gives the score "${feedback}" and no other.`, {
      param: "name",
    });
  if (value < 0 || value > 1) throw invalid("value", "Feedback is from 0 to 1.");
}
