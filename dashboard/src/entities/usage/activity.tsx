import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import type { AnalyticsReport } from "../../../../server/domain/api-types/usage.ts";
import { useToday } from "../../hooks/use-now.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { formatCount, formatDuration, unknownText } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Cell } from "../../ui/data/table.tsx";
import type { WorkspaceKey } from "../crud/resource.ts";
import { type Activity, activityOf, successWords } from "./activity-of.ts";

const days = 7;
const day_ms = 86_400_000;

/** One request for the whole list instead of one per row. */
const activityQuery = (at: WorkspaceKey, group_by: "agent" | "tool", from: string) =>
  queryOptions({
    queryKey: ["activity", at.projectId, at.mode, group_by, from],
    queryFn: ({ signal }) =>
      get<AnalyticsReport>(resourceUrl(at, `/analytics${query({ group_by, from, bucket: "day" })}`), signal),
    placeholderData: keepPreviousData,
    staleTime: 15_000,
  });

/** Activity of the last seven days: of agents by id, of tools by name. */
export function useActivity(group_by: "agent" | "tool"): (name: string) => Activity | null {
  const from = new Date(Date.parse(useToday()) - (days - 1) * day_ms).toISOString().slice(0, 10);
  const { data } = useQuery(activityQuery(useWorkspace(), group_by, from));
  return (name) => activityOf(data, name);
}

/** Column heads of the activity cells. `counted` is a label such as “Runs”. */
export const activityColumns = (counted: string) => [
  { label: `${counted}, 7 days`, right: true, folds: true },
  { label: "Success", right: true, folds: true },
  { label: "Latency", right: true, folds: true },
];

/** Cells for count, success rate and average duration. */
export function ActivityCells({ activity }: { activity: Activity | null }) {
  return (
    <>
      <Cell right folds className="max-rail:hidden">
        {formatCount(activity?.count)}
      </Cell>
      <Cell right folds className="max-rail:hidden">
        {activity ? successWords(activity) : unknownText}
      </Cell>
      <Cell right folds className="max-rail:hidden">
        {formatDuration(activity?.average_ms)}
      </Cell>
    </>
  );
}
