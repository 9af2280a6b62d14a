import { useQuery } from "@tanstack/react-query";
import type { Alert } from "../../../../server/domain/api-types/alert.ts";
import { alertsQuery } from "../../entities/alert/alert-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";

/** The open alerts, each with advice. Renders nothing if there are none. */
export function Alerts() {
  const { data } = useQuery(alertsQuery(useWorkspace()));
  if (!data || data.length === 0) return null;
  return (
    <ul aria-label="Alerts" className="flex flex-col gap-2 px-4 pt-4 rail:px-5">
      {keepHighestBudgetAlert(data).map(({ id, when, detail, todo, opened_at }) => (
        <li key={id}>
          <Callout tone="warn">
            <p>
              <b>{removeBackticks(when)}</b> {detail}
            </p>
            <p className="text-xs">
              {removeBackticks(todo)} Since <Time at={opened_at} />.
            </p>
          </Callout>
        </li>
      ))}
    </ul>
  );
}

const budgetRules = ["budget_50", "budget_80", "budget_100"];

/** Keeps only the highest of the daily budget's alerts. */
function keepHighestBudgetAlert(alerts: readonly Alert[]): readonly Alert[] {
  const highest = budgetRules.findLast((mark) => alerts.some(({ rule }) => rule === mark));
  return alerts.filter(({ rule }) => rule === highest || !budgetRules.includes(rule));
}

const removeBackticks = (sentence: string): string => sentence.replaceAll("`", "");
