import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { ObjectNotFound } from "../../entities/crud/object-page.tsx";
import { comparedRunQuery, diffQuery } from "../../entities/run/diff-api.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { ApiError } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { DiffHead, DiffSkeleton } from "./diff-head.tsx";
import { DiffView } from "./diff-view.tsx";
import type { DiffSearch } from "./read-diff-search.ts";

interface DiffPageProps {
  /** Run on the left. */
  id: string;
  otherId: string;
  search: DiffSearch;
  onSearch: (search: DiffSearch) => void;
  /** Looks up the same runs in the other mode. */
  onLookIn: (mode: Mode) => void;
}

/** Comparison of two runs, step by step, with durations and cost. */
export function DiffPage({ id, otherId, search, onSearch, onLookIn }: DiffPageProps) {
  const at = useWorkspace();
  const a = useQuery(comparedRunQuery(at, id));
  const b = useQuery(comparedRunQuery(at, otherId));
  useTitle("Compare two runs");
  for (const [run, runId] of [
    [a, id],
    [b, otherId],
  ] as const)
    if (run.error instanceof ApiError && run.error.status === 404)
      return <ObjectNotFound noun="run" id={runId} list="/runs" onLookIn={onLookIn} />;
  if (a.data && b.data) return <Compared a={a.data} b={b.data} search={search} onSearch={onSearch} />;
  const failed = a.error ? a : b.error ? b : null;
  return (
    <Framed>
      {failed?.error ? (
        <ErrorNote title="The runs cannot be shown" error={failed.error} onRetry={() => void failed.refetch()} />
      ) : (
        <DiffSkeleton />
      )}
    </Framed>
  );
}

function Compared({ a, b, ...rest }: { a: Run; b: Run } & Pick<DiffPageProps, "search" | "onSearch">) {
  const diff = useInfiniteQuery(diffQuery(useWorkspace(), a, b));
  if (diff.data) return <DiffView a={a} b={b} diff={diff} pages={diff.data.pages} {...rest} />;
  return (
    <Framed>
      {diff.error ? (
        <ErrorNote title="The runs cannot be compared" error={diff.error} onRetry={() => void diff.refetch()} />
      ) : (
        <DiffSkeleton />
      )}
    </Framed>
  );
}

function Framed({ children }: { children: ReactNode }) {
  return (
    <>
      <DiffHead />
      <div className="p-5">{children}</div>
    </>
  );
}
