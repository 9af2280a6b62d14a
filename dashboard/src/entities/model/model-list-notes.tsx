import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleAlert, RefreshCw } from "lucide-react";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/forms/button.tsx";
import { usePermission } from "../session/use-may.ts";
import { modelQueries, modelsQuery } from "./model-api.ts";
import { refreshModels } from "./refresh-models.ts";

/** Below a model field: lists that could not be read, with the reason, and a button that reads all of them again. */
export function ModelListNotes() {
  const may = usePermission("member");
  const client = useQueryClient();
  const { data } = useQuery(modelsQuery(useWorkspace()));
  const sources = data?.connections ?? [];
  const failed = sources.filter(({ error }) => error);
  const refreshing = useMutation({
    mutationFn: () => Promise.all(sources.map(({ connection }) => refreshModels(connection))),
    onSettled: () => client.invalidateQueries(modelQueries),
  });
  if (sources.length === 0) return null;
  const isReading = refreshing.isPending || sources.some(({ reading }) => reading);
  return (
    <div className="-mt-2 flex min-w-0 flex-wrap items-start gap-x-3 gap-y-1 text-xs text-muted">
      <Button
        kind="ghost"
        size="sm"
        className="-ml-2.25"
        disabled={!may || isReading}
        onClick={() => refreshing.mutate()}
      >
        <RefreshCw aria-hidden className="size-3.5" strokeWidth={1.5} />
        {isReading ? "Reading the models" : "Refresh models"}
      </Button>
      <div role="status" className="min-w-0 flex-1">
        <ul className="flex flex-col gap-1 pt-1.5 empty:hidden">
          {failed.map(({ connection, error, models }) => (
            <li key={connection} className="flex min-w-0 gap-1.5 wrap-anywhere">
              <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warn" strokeWidth={1.5} />
              <span>
                <code>{connection}</code>: {error?.message}
                {models !== null && " The list is the last one that was read."}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
