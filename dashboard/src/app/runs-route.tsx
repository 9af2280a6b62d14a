import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, useState } from "react";
import type { AnyRun as Run } from "../../../server/domain/api-types/run.ts";
import { RunsPage } from "../features/runs/runs-page.tsx";
import { LazyBoundary } from "../ui/feedback/lazy-boundary.tsx";

/** Lazy: few people add runs to a suite. */
const AddToSuite = lazy(() =>
  import("../features/suites/add-to-suite.tsx").then((loaded) => ({ default: loaded.AddToSuite })),
);

/** `/runs`; the search parameters are `RunsSearch`. */
export function RunsRoute() {
  const { workspace: _, ...search } = useSearch({ from: "/shell/runs" });
  const navigate = useNavigate();
  const [pinned, setPinned] = useState<Run[] | null>(null);
  return (
    <>
      <RunsPage
        search={search}
        onSearch={(next, replace) => void navigate({ to: "/runs", search: next, replace })}
        onOpenRun={(runId) => void navigate({ to: "/runs/$runId", params: { runId } })}
        onCompare={(runId, otherId) => void navigate({ to: "/runs/$runId/diff/$otherId", params: { runId, otherId } })}
        onPin={setPinned}
      />
      {pinned && (
        <LazyBoundary onMissing={() => setPinned(null)}>
          <AddToSuite
            runs={pinned}
            onClose={() => setPinned(null)}
            onDone={(suiteId) => void navigate({ to: "/suites/$suiteId", params: { suiteId } })}
          />
        </LazyBoundary>
      )}
    </>
  );
}
