import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { fetchRuns } from "../../entities/run/run-api.ts";
import type { RunsSearch } from "../../entities/run/runs-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { joinRuns } from "./fold-live-run.ts";

/** After so many pages without a find the reader decides whether to go on. */
const pagesAtOnce = 10;

interface Further {
  /** Of which list and page they are. */
  place: string;
  runs: Run[];
  hasMore: boolean;
}

/** The runs that a text is sought in: those of the page, and by request older ones, page by page until one has it. */
export function useFurther(search: RunsSearch, page: List<Run> | undefined, fits: (run: Run) => boolean) {
  const at = useWorkspace();
  const place = JSON.stringify([at.projectId, at.mode, search]);
  const [kept, setKept] = useState<Further | null>(null);
  const further = kept?.place === place ? kept : null;
  const all = page && joinRuns(page.data, further?.runs ?? []);
  // has_more speaks of the direction in which the page was read.
  const hasMore = further ? further.hasMore : search.before ? true : Boolean(page?.has_more);
  const stop = useRef(new AbortController());
  const look = useMutation({
    mutationFn: async () => {
      const { signal } = stop.current;
      // Those of the page too: as newer ones come, its oldest leave it.
      let runs = all ?? [];
      for (let pages = 0; pages < pagesAtOnce; pages++) {
        const next = await fetchRuns(at, { ...search, before: undefined, after: runs.at(-1)?.id }, signal);
        runs = joinRuns(runs, next.data);
        setKept({ place, runs, hasMore: next.has_more });
        if (!next.has_more || next.data.some(fits)) return;
      }
    },
  });
  const { reset } = look;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever goes to another place looks no further in this one.
  useEffect(() => {
    const own = new AbortController();
    stop.current = own;
    return () => {
      own.abort();
      reset();
    };
  }, [place, reset]);
  return { all, hasMore, isLooking: look.isPending, error: look.error, look: () => look.mutate() } as const;
}
