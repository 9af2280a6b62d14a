import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { isMissing } from "../../lib/api.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { TableSkeleton } from "../../ui/table.tsx";
import { ObjectNotFound } from "./object-not-found.tsx";

/** The page of one thing: what it shows once the thing is there, before that its head, and else why it is not shown. */
export function ObjectPage<T>({
  object: { data, error, refetch },
  noun,
  title = noun[0]!.toUpperCase() + noun.slice(1),
  id,
  path,
  list,
  keepsOpen = false,
  loading = <TableSkeleton />,
  onLookIn,
  children,
}: {
  object: Pick<UseQueryResult<T>, "data" | "error" | "refetch">;
  /** “agent”. */
  noun: string;
  /** What stands in the head as long as its name is not known. */
  title?: string;
  id: string;
  /** Of the API: “/agents/agt_…”. */
  path: string;
  /** The way to the list. */
  list: ReactNode;
  /** What was deleted elsewhere stays in sight: somebody may be editing it. */
  keepsOpen?: boolean;
  loading?: ReactNode;
  onLookIn: (mode: Mode) => void;
  /** `stale`: says that what is shown may be out of date; null when it is not. */
  children: (data: T, stale: ReactNode) => ReactNode;
}) {
  const isGone = isMissing(error);
  if (isGone && !(keepsOpen && data !== undefined))
    return (
      <ObjectNotFound noun={noun} id={id} path={path} onLookIn={onLookIn}>
        {list}
      </ObjectNotFound>
    );
  const words = data === undefined ? "cannot be shown" : "is not up to date";
  const failure = error && (
    <div className="px-4 py-3 rail:px-5">
      <ErrorNote title={`The ${noun} ${words}`} error={error} onRetry={() => void refetch()} />
    </div>
  );
  if (data !== undefined) return children(data, failure);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">{title}</h1>
        <ModePill />
      </SheetHead>
      {failure ?? loading}
    </>
  );
}
