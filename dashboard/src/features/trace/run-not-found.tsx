import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import type { Mode } from "../../lib/types.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { runQuery } from "./trace-api.ts";

/** No run has this id in this mode. Says so when the other mode has it. */
export function RunNotFound({ id, onLookIn }: { id: string; onLookIn: (mode: Mode) => void }) {
  const { projectId, mode } = useWorkspace();
  const other: Mode = mode === "test" ? "live" : "test";
  const there = useQuery({ ...runQuery({ projectId, mode: other }, id), retry: false });
  useTitle("No such run");
  if (there.isPending) return null;
  return (
    <EmptyState page icon={FileQuestion} title={there.data ? `This run is ${other} data` : "No such run"}>
      <p className="max-w-[46ch] text-muted">
        {there.data
          ? `You are looking at ${mode} data.`
          : "No run of this project has this id, in test or in live. It may have been deleted, or it belongs to another project."}
      </p>
      <code className="wrap-anywhere text-muted">{id}</code>
      <div className="flex gap-2">
        {there.data && (
          <Button kind="primary" onClick={() => onLookIn(other)}>
            Look in {other} data
          </Button>
        )}
        <Link to="/runs" className={buttonClass()}>
          Go to runs
        </Link>
      </div>
    </EmptyState>
  );
}
