import { Check, LoaderCircle, TriangleAlert } from "lucide-react";
import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { formatCount } from "../../lib/format.ts";
import { Pill } from "../../ui/data/pill.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";

/** Shows that a store is ready, or the progress of its reindexing. */
export function IndexingState({ store: { indexing, name } }: { store: Pick<Store, "indexing" | "name"> }) {
  if (!indexing)
    return (
      <Pill tone="ok" icon={Check}>
        Ready
      </Pill>
    );
  const { processed, total, error, model } = indexing;
  const words = `${formatCount(processed)} of ${formatCount(total)}`;
  return (
    <span className="inline-flex flex-col gap-1" title={error?.message ?? `Reindexing with ${model}`}>
      <Pill tone={error ? "warn" : "info"} icon={error ? TriangleAlert : LoaderCircle} spin={!error}>
        {error ? `Stopped at ${words}` : `Indexing ${words}`}
      </Pill>
      <Progress label={`Indexing of ${name}`} share={total ? processed / total : null} />
    </span>
  );
}
