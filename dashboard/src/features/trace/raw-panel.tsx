import { useQuery } from "@tanstack/react-query";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { stepQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import type { Row } from "./rows.ts";
import { Value } from "./value.tsx";

/** A step as the API gives it, and the journal's own entries of it. */
export function RawPanel({ row, step }: { row: Row; step: TraceStep }) {
  const at = useWorkspace();
  const read = useQuery(stepQuery(at, row.runId, step, row.before, "raw"));
  return (
    <>
      <Value title="As the API gives it" name={step.id} value={step} />
      {read.isPending && <Skeleton className="w-1/2" />}
      {read.error && (
        <ErrorNote title="The journal cannot be shown" error={read.error} onRetry={() => void read.refetch()} />
      )}
      {read.data?.raw && <Value title="As the journal holds it" name={`${step.id} journal`} value={read.data.raw} />}
    </>
  );
}
