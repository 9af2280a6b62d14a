import { useQuery } from "@tanstack/react-query";
import type { Alert } from "../../../../server/wire/alert.ts";
import { alertsQuery } from "../../entities/alert/alert-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Note } from "../../ui/note.tsx";
import { Time } from "../../ui/time.tsx";

/** What is not well, each with what to do; nothing while all is. */
export function Alerts() {
  const { data } = useQuery(alertsQuery(useWorkspace()));
  if (!data || data.length === 0) return null;
  return (
    <ul aria-label="Alerts" className="flex flex-col gap-2 px-4 pt-4 rail:px-5">
      {withoutLowerMarks(data).map(({ id, when, detail, todo, opened_at }) => (
        <li key={id}>
          <Note tone="warn">
            <p>
              <b>{plain(when)}</b> {detail}
            </p>
            <p className="text-xs">
              {plain(todo)} Since <Time at={opened_at} />.
            </p>
          </Note>
        </li>
      ))}
    </ul>
  );
}

const marks = ["budget_50", "budget_80", "budget_100"];

/** Of the alerts on a day's budget, only the one with the highest threshold. */
function withoutLowerMarks(alerts: readonly Alert[]): readonly Alert[] {
  const highest = marks.findLast((mark) => alerts.some(({ rule }) => rule === mark));
  return alerts.filter(({ rule }) => rule === highest || !marks.includes(rule));
}

const plain = (sentence: string): string => sentence.replaceAll("`", "");
