import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { SentRequest } from "../../entities/run/sent-request.tsx";
import { type LoadedTrace, traceQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DialogShell } from "../../ui/dialogs/dialog-shell.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import { Select } from "../../ui/forms/select.tsx";

/** Requests of a run's model calls, newest first. */
export function SentDialog({ runId, onClose }: { runId: string; onClose: () => void }) {
  const { data, error, isFetching, refetch } = useQuery(traceQuery(useWorkspace(), runId));
  const readOn = data?.hasMore && !isFetching && !error;
  useEffect(() => {
    if (readOn) void refetch();
  }, [readOn, refetch]);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <DialogShell wide>
        <div className="flex items-center justify-between pt-3 pr-3 pl-5">
          <Dialog.Title className="text-lg">What the model was sent</Dialog.Title>
          <Dialog.Close className={buttonClass({ kind: "ghost", size: "icon" })} aria-label="Close">
            <X aria-hidden className="size-4" strokeWidth={1.5} />
          </Dialog.Close>
        </div>
        <div className="relative flex min-h-40 flex-col gap-3 overflow-y-auto px-5 pt-2 pb-5">
          {data && <Calls runId={runId} loaded={data} />}
          {!data && !error && <Skeleton className="w-1/2" />}
          <ErrorNote title="The model calls cannot be shown" error={error} onRetry={() => void refetch()} />
        </div>
      </DialogShell>
    </Dialog.Root>
  );
}

function Calls({ runId, loaded: { steps } }: { runId: string; loaded: LoadedTrace }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const calls = steps.filter(({ type }) => type === "model_call");
  const selectedCall = calls.find(({ id }) => id === chosen) ?? calls.at(-1);
  if (!selectedCall) return <p className="text-muted">No model calls yet.</p>;
  return (
    <>
      {calls.length > 1 && (
        <Select
          label="Model call"
          value={selectedCall.id}
          choices={calls.map(({ id, name }, index) => ({
            value: id,
            label: `${index + 1} of ${calls.length}: ${name}`,
          }))}
          onChoose={setChosen}
        />
      )}
      <SentRequest
        key={selectedCall.id}
        runId={runId}
        step={selectedCall}
        before={steps[steps.indexOf(selectedCall) - 1]?.id ?? null}
      />
    </>
  );
}
