import { useCallback, useState } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";

/** The rows that are selected, as long as they are shown. */
export function useSelection(shown: readonly Run[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(({ id }: Pick<Run, "id">) => {
    setIds((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);
  const selectAll = (all: boolean) => setIds(new Set(all ? shown.map(({ id }) => id) : []));
  const clear = useCallback(() => setIds(new Set()), []);
  return { ids, runs: shown.filter(({ id }) => ids.has(id)), toggle, selectAll, clear };
}
