import { useCallback, useEffect, useMemo, useState } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { LoadedTrace } from "../../entities/run/trace-types.ts";
import { ancestorsOf } from "./first-step.ts";
import { type Row, rowsOf } from "./rows.ts";
import { useChildren } from "./use-children.ts";

/** The rows of a run, with those of the runs below that were opened. A wanted row opens all that lead to it. */
export function useRows(run: Run, loaded: LoadedTrace, name: string, wanted: string | undefined) {
  const [open, setOpen] = useState<ReadonlyMap<string, string>>(() => new Map([["run", run.id]]));
  const ids = useMemo(() => [...new Set(open.values())].filter((id) => id !== run.id), [open, run.id]);
  const children = useChildren(ids);
  const rows = useMemo(
    () => rowsOf({ root: { ...loaded, run }, name, children, open: new Set(open.keys()) }),
    [loaded, run, name, children, open],
  );
  const toggle = useCallback((row: Row, to: boolean) => {
    const below = row.kind === "run" ? row.runId : row.step?.subagent?.run_id;
    if (!below) return;
    setOpen((held) => {
      const next = new Map(held);
      if (to) next.set(row.key, below);
      else next.delete(row.key);
      return next;
    });
  }, []);
  const closed = wanted === undefined ? undefined : closedAncestor(rows, wanted);
  useEffect(() => {
    if (closed) toggle(closed, true);
  }, [closed, toggle]);
  return { rows, toggle };
}

/** The first row on the way to a nested step that is here and not open. */
function closedAncestor(rows: readonly Row[], wanted: string): Row | undefined {
  if (rows.some(({ key }) => key === wanted)) return undefined;
  const ways = ancestorsOf(wanted);
  return rows.find((row) => ways.includes(row.key) && row.opens && !row.open);
}
