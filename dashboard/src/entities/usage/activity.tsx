import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import type { AnalyticsReport } from "../../../../server/wire/usage.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { formatCount, formatDuration, unknown } from "../../lib/format.ts";
import { useToday } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Cell } from "../../ui/table.tsx";
import type { At } from "../resource/resource.ts";
import { type Activity, activityOf, successWords } from "./activity-of.ts";

const days = 7;
const day_ms = 86_400_000;

/** One request for a whole list, and not one for each row. */
const activityQuery = (at: At, group_by: "agent" | "tool", from: string) =>
  queryOptions({
    queryKey: ["activity", at.projectId, at.mode, group_by, from],
    queryFn: ({ signal }) =>
      get<AnalyticsReport>(resourceUrl(at, `/analytics${query({ group_by, from, bucket: "day" })}`), signal),
    placeholderData: keepPreviousData,
    staleTime: 15_000,
  });

/** What agents or tools did in the last seven days: agents by their ids, tools by their names. */
export function useActivity(group_by: "agent" | "tool"): (name: string) => Activity | null {
  const from = new Date(Date.parse(useToday()) - (days - 1) * day_ms).toISOString().slice(0, 10);
  const { data } = useQuery(activityQuery(useWorkspace(), group_by, from));
  return (name) => activityOf(data, name);
}

/** The heads of these cells. `counted`: “Runs”. */
export const activityColumns = (counted: string) => [
  { label: `${counted}, 7 days`, right: true, folds: true },
  { label: "Success", right: true, folds: true },
  { label: "Latency", right: true, folds: true },
];

/** How often, how well and how fast. */
export function ActivityCells({ activity }: { activity: Activity | null }) {
  return (
    <>
      <Cell right folds className="max-rail:hidden">
        {formatCount(activity?.count)}
      </Cell>
      <Cell right folds className="max-rail:hidden">
        {activity ? successWords(activity) : unknown}
      </Cell>
      <Cell right folds className="max-rail:hidden">
        {formatDuration(activity?.average_ms)}
      </Cell>
    </>
  );
}
