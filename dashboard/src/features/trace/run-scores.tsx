import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { useState } from "react";
import type { Score } from "../../../../server/domain/api-types/score.ts";
import { scoreApi, scoreRun, scoresQuery } from "../../entities/run/score-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Time } from "../../ui/data/time.tsx";
import { Block } from "../../ui/data/value.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";

/** Scores of a run, and one's own review. */
export function RunScores({ runId }: { runId: string }) {
  const { data } = useQuery(scoresQuery(useWorkspace(), runId));
  const may = usePermission("member");
  if (!data || (data.data.length === 0 && !may)) return null;
  return (
    <Block title="Scores and notes">
      <ul className="flex flex-col gap-2">
        {data.data.map((score) => (
          <li key={score.id} className="min-w-0">
            <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
              <b className="wrap-anywhere font-medium">{score.name}</b>
              <span className="tabular-nums">{scoreText(score)}</span>
              <span className="wrap-anywhere text-xs text-muted">
                {authors[score.source]} {score.author_id}, <Time at={score.updated_at} />
              </span>
            </p>
            {score.comment && <p className="max-w-(--read) wrap-anywhere whitespace-pre-wrap">{score.comment}</p>}
          </li>
        ))}
      </ul>
      {may && <Review runId={runId} />}
    </Block>
  );
}

/** Name of the reviews by people in the dashboard, one per person. */
const review = "review";

function Review({ runId }: { runId: string }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [comment, setComment] = useState("");
  const save = useMutation({
    mutationFn: (value: number) => scoreRun(at, runId, review, { value, comment: comment.trim() || null }),
    onSuccess: async () => {
      setComment("");
      await client.invalidateQueries(scoreApi.all(at));
    },
  });
  return (
    <div className="flex flex-col gap-2 pt-2">
      <TextArea
        label="Your note"
        rows={2}
        maxLength={2000}
        value={comment}
        onChange={(event) => setComment(event.target.value)}
      />
      <ErrorNote title="The score was not saved" error={save.error} />
      <div className="flex flex-wrap gap-2">
        <Button size="sm" disabled={save.isPending} onClick={() => save.mutate(1)}>
          <ThumbsUp {...icon} />
          Good
        </Button>
        <Button size="sm" disabled={save.isPending} onClick={() => save.mutate(0)}>
          <ThumbsDown {...icon} />
          Bad
        </Button>
      </div>
    </div>
  );
}

const icon = { "aria-hidden": true, className: "size-3.5", strokeWidth: 1.5 } as const;

const authors: Record<Score["source"], string> = { client: "by a user", api_key: "by an API key", user: "by a member" };

/** Formats a score: user feedback and reviews as good or bad, others as numbers. */
function scoreText({ name, source, value }: Score): string {
  if (!(name === "feedback" && source === "client") && !(name === review && source === "user")) return String(value);
  return value === 1 ? "good" : value === 0 ? "bad" : String(value);
}
