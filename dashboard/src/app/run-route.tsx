import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Columns2, ListChecks, ShieldCheck } from "lucide-react";
import { lazy, useState } from "react";
import type { AnyRun as Run } from "../../../server/domain/api-types/run.ts";
import { isOver } from "../../../server/domain/run-state.ts";
import { usePermission } from "../entities/session/use-may.ts";
import { CompareWith } from "../features/run-comparison/compare-with.tsx";
import { canBePinned } from "../features/suites/cases.ts";
import { ForkPanel } from "../features/trace/fork-panel.tsx";
import { Player } from "../features/trace/player.tsx";
import { TracePage } from "../features/trace/trace-page.tsx";
import { VerifyReplay } from "../features/trace/verify-replay.tsx";
import { LazyBoundary } from "../ui/feedback/lazy-boundary.tsx";
import { Button } from "../ui/forms/button.tsx";
import { useSwitchMode } from "./use-switch-mode.ts";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** Lazy: few people add runs to a suite. */
const AddToSuite = lazy(() =>
  import("../features/suites/add-to-suite.tsx").then((loaded) => ({ default: loaded.AddToSuite })),
);

/** `/runs/:id?step=&tab=&view=&q=&fold=&t=&fork=&graph=&node=`. */
export function RunRoute() {
  const { runId } = useParams({ from: "/shell/runs/$runId" });
  const { workspace: _, step, ...search } = useSearch({ from: "/shell/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const switchMode = useSwitchMode();
  const [compared, setCompared] = useState<Run | null>(null);
  const [verified, setVerified] = useState<Run | null>(null);
  const [pinned, setPinned] = useState<Run | null>(null);
  const mayRun = usePermission("member");
  const compare = (id: string, otherId: string) =>
    void navigate({ to: "/runs/$runId/diff/$otherId", params: { runId: id, otherId } });
  return (
    <>
      <TracePage
        key={runId}
        id={runId}
        search={{ ...search, step: step === undefined ? undefined : String(step) }}
        onSearch={(change, { back = false, discards = false } = {}) =>
          void navigate({
            search: (before) => ({ ...before, ...change, ...("step" in change && { step: stepParam(change.step) }) }),
            replace: !back,
            ignoreBlocker: discards,
          })
        }
        onLookIn={(mode) => switchMode(mode, { keepPage: true })}
        onOpenRun={(id) => void navigate({ to: "/runs/$runId", params: { runId: id } })}
        onLeave={() => void navigate({ to: "/runs" })}
        player={(slot) => <Player {...slot} />}
        fork={mayRun ? (slot) => <ForkPanel key={slot.step.id} {...slot} /> : undefined}
        buttons={(run) => (
          <>
            <Button onClick={() => setCompared(run)}>
              <Columns2 {...icon} />
              Compare
            </Button>
            {mayRun && canBePinned(run) && (
              <Button onClick={() => setPinned(run)}>
                <ListChecks {...icon} />
                Add to suite
              </Button>
            )}
          </>
        )}
        acts={(run, { MenuItem }) => {
          const source = run.forked_from?.run_id ?? run.replay_of;
          return (
            <>
              {source && (
                <MenuItem onClick={() => compare(source, run.id)}>
                  <Columns2 {...icon} />
                  Compare with its source
                </MenuItem>
              )}
              <MenuItem onClick={() => setCompared(run)}>
                <Columns2 {...icon} />
                Compare with…
              </MenuItem>
              {mayRun && isOver(run.status) && (
                <MenuItem onClick={() => setVerified(run)}>
                  <ShieldCheck {...icon} />
                  Verify replay…
                </MenuItem>
              )}
              {mayRun && canBePinned(run) && (
                <MenuItem onClick={() => setPinned(run)}>
                  <ListChecks {...icon} />
                  Add to suite…
                </MenuItem>
              )}
            </>
          );
        }}
      />
      {verified && (
        <VerifyReplay
          run={verified}
          open
          onOpenChange={(open) => !open && setVerified(null)}
          onShowStep={(step) => void navigate({ search: (before) => ({ ...before, step }), replace: true })}
          onOpenRun={(id) => void navigate({ to: "/runs/$runId", params: { runId: id } })}
        />
      )}
      {pinned && (
        <LazyBoundary onMissing={() => setPinned(null)}>
          <AddToSuite
            runs={[pinned]}
            onClose={() => setPinned(null)}
            onDone={(suiteId) => void navigate({ to: "/suites/$suiteId", params: { suiteId } })}
          />
        </LazyBoundary>
      )}
      {compared && (
        <CompareWith run={compared} open onOpenChange={(open) => !open && setCompared(null)} onCompare={compare} />
      )}
    </>
  );
}

/** Numbers stay numbers: a numeric string would get quotes in the address. */
const stepParam = (step: string | undefined): string | number | undefined =>
  step !== undefined && /^\d+$/.test(step) ? Number(step) : step;
