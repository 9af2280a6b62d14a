import { useQuery } from "@tanstack/react-query";
import { FileQuestion } from "lucide-react";
import type { ReactNode } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { get, isMissing, resourceUrl } from "../../lib/api.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

/** Nothing has this id in this mode. Says so when the other mode has it. */
export function ObjectNotFound({
  noun,
  id,
  path,
  children,
  onLookIn,
}: {
  /** “agent”. */
  noun: string;
  id: string;
  /** Of the API: “/agents/agt_…”. */
  path: string;
  /** The way to the list. */
  children: ReactNode;
  onLookIn: (mode: Mode) => void;
}) {
  const { projectId, mode } = useWorkspace();
  const other: Mode = mode === "test" ? "live" : "test";
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
            Look in {other} data
          </Button>
        )}
        {unknown && <Button onClick={() => void there.refetch()}>Look again</Button>}
        {children}
      </div>
    </EmptyState>
  );
}
