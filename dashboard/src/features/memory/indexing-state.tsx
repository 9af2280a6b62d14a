import { Check, LoaderCircle, TriangleAlert } from "lucide-react";
import type { Memory as Store } from "../../../../server/wire/memory.ts";
import { formatCount } from "../../lib/format.ts";
import { Pill } from "../../ui/pill.tsx";
import { Progress } from "../../ui/progress.tsx";

/** Whether a store is whole, or how far it is with another embedding. */
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
