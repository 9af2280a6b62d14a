import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import type { ReactNode } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { get, isMissing, resourceUrl } from "../../lib/api.ts";
import { capital } from "../../lib/format.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { TableSkeleton } from "../../ui/table.tsx";
import { apiPlace, type Place, placeName } from "./places.ts";

interface Sought {
  /** “agent”. */
  noun: string;
  id: string;
  /** Its list, of the dashboard as of the API. */
  list: Place;
  onLookIn: (mode: Mode) => void;
}

/** The page of one thing: what it shows once the thing is there, before that its head, and else why it is not shown. */
export function ObjectPage<T>({
  object: { data, error, refetch },
  title,
  keepsOpen = false,
  loading = <TableSkeleton />,
  children,
  ...sought
}: Sought & {
  object: Pick<UseQueryResult<T>, "data" | "error" | "refetch">;
  /** What stands in the head as long as its name is not known. */
  title?: string;
  /** What was deleted elsewhere stays in sight: somebody may be editing it. */
  keepsOpen?: boolean;
  loading?: ReactNode;
  /** `stale`: says that what is shown may be out of date; null when it is not. */
  children: (data: T, stale: ReactNode) => ReactNode;
}) {
  const { noun } = sought;
  if (isMissing(error) && !(keepsOpen && data !== undefined)) return <ObjectNotFound {...sought} />;
  const words = data === undefined ? "cannot be shown" : "is not up to date";
  const failure = error && (
    <ErrorNote inset title={`The ${noun} ${words}`} error={error} onRetry={() => void refetch()} />
  );
  if (data !== undefined) return children(data, failure);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">{title ?? capital(noun)}</h1>
        <ModePill />
      </SheetHead>
      {failure ?? loading}
    </>
  );
}

/** Nothing has this id in this mode. Says so when the other mode has it. */
export function ObjectNotFound({
  noun,
  id,
  list,
  onLookIn,
  children = (
    <Link to={list} className={buttonClass()}>
      Go to {placeName(list)}
    </Link>
  ),
}: Sought & {
  /** Another way on than to the list. */
  children?: ReactNode;
}) {
  const { projectId, mode } = useWorkspace();
  const other: Mode = mode === "test" ? "live" : "test";
  const path = `${apiPlace(list)}/${encodeURIComponent(id)}`;
  const there = useQuery({
    queryKey: ["elsewhere", projectId, other, path],
    queryFn: ({ signal }) => get<unknown>(resourceUrl({ projectId, mode: other }, path), signal),
    retry: false,
  });
  useTitle(`No such ${noun}`);
  if (there.isPending) return null;
  const unknown = there.error && !isMissing(there.error) ? there.error : null;
  return (
    <EmptyState page icon={FileQuestion} title={there.data ? `This ${noun} is ${other} data` : `No such ${noun}`}>
      <p className="max-w-[46ch] text-muted">
        {there.data
          ? `You are looking at ${mode} data.`
          : unknown
            ? `No ${noun} of this project has this id in ${mode} data. Whether ${other} data has it is not known: ${unknown.message}`
            : `No ${noun} of this project has this id, in test or in live. It may have been deleted, or it belongs to another project.`}
      </p>
      <code className="wrap-anywhere text-muted">{id}</code>
      <div className="flex gap-2">
        {there.data !== undefined && (
          <Button kind="primary" onClick={() => onLookIn(other)}>
            Check {other} data
          </Button>
        )}
        {unknown && <Button onClick={() => void there.refetch()}>Check again</Button>}
        {children}
      </div>
    </EmptyState>
  );
}
