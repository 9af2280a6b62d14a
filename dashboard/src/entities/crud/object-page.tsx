import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import type { ReactNode } from "react";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { get, isNotFound, resourceUrl } from "../../lib/api.ts";
import { capital } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { TableSkeleton } from "../../ui/data/table.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { apiPath, type ListPath, listName } from "./places.ts";

interface ObjectReference {
  /** Singular name: “agent”. */
  noun: string;
  id: string;
  /** Path of its list, in the dashboard as in the API. */
  list: ListPath;
  onLookIn: (mode: Mode) => void;
}

/** Properties of a page of one object, as its route has them. */
export interface ObjectPageProps<Search> extends Pick<ObjectReference, "id" | "onLookIn"> {
  search: Search;
  onSearch: (search: Search) => void;
  /** Leaves the page of a deleted object. */
  onLeave: () => void;
}

/** Page of one object: loading state, error or content. */
export function ObjectPage<T>({
  object: { data, error, refetch },
  title,
  keepsOpen = false,
  loading = <TableSkeleton />,
  children,
  ...sought
}: ObjectReference & {
  object: Pick<UseQueryResult<T>, "data" | "error" | "refetch">;
  /** Title while the name is loading. */
  title?: string;
  /** True if an object that was deleted elsewhere stays visible, because a person may be editing it. */
  keepsOpen?: boolean;
  loading?: ReactNode;
  /** `stale` is a notice that the data may be outdated, otherwise null. */
  children: (data: T, stale: ReactNode) => ReactNode;
}) {
  const { noun } = sought;
  if (isNotFound(error) && !(keepsOpen && data !== undefined)) return <ObjectNotFound {...sought} />;
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

/** Not-found page of an object. Links to the other mode if the object exists there. */
export function ObjectNotFound({
  noun,
  id,
  list,
  onLookIn,
  children = (
    <Link to={list} className={buttonClass()}>
      Go to {listName(list)}
    </Link>
  ),
}: ObjectReference & {
  /** Links besides the one to the list. */
  children?: ReactNode;
}) {
  const { projectId, mode } = useWorkspace();
  const other: Mode = mode === "test" ? "live" : "test";
  const path = `${apiPath(list)}/${encodeURIComponent(id)}`;
  const there = useQuery({
    queryKey: ["elsewhere", projectId, other, path],
    queryFn: ({ signal }) => get<unknown>(resourceUrl({ projectId, mode: other }, path), signal),
    retry: false,
  });
  useTitle(`No such ${noun}`);
  if (there.isPending) return null;
  const unknown = there.error && !isNotFound(there.error) ? there.error : null;
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
