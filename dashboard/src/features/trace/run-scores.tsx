import { useQuery } from "@tanstack/react-query";
import type { Score } from "../../../../server/wire/score.ts";
import { scoresQuery } from "../../entities/run/score-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Time } from "../../ui/time.tsx";
import { Block } from "./value.tsx";

/** What people and programs think of a run. */
export function RunScores({ runId }: { runId: string }) {
  const { data } = useQuery(scoresQuery(useWorkspace(), runId));
  if (!data?.data.length) return null;
  return (
    <Block title="Scores">
      <ul className="flex flex-col gap-2">
        {data.data.map((score) => (
          <li key={score.id} className="min-w-0">
            <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
              <b className="wrap-anywhere font-medium">{score.name}</b>
              <span className="tabular-nums">{said(score)}</span>
              <span className="wrap-anywhere text-xs text-muted">
                {authors[score.source]} {score.author_id}, <Time at={score.updated_at} />
              </span>
            </p>
            {score.comment && <p className="max-w-(--read) wrap-anywhere whitespace-pre-wrap">{score.comment}</p>}
          </li>
        ))}
      </ul>
    </Block>
  );
}

const authors: Record<Score["source"], string> = { client: "by a user", api_key: "by an API key", user: "by a member" };

/** Feedback of people who chat is good or bad; any other scale is its author's own. */
function said({ name, source, value }: Score): string {
  if (name !== "feedback" || source !== "client") return String(value);
  return value === 1 ? "good" : value === 0 ? "bad" : String(value);
}
