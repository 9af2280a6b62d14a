import { CircleHelp } from "lucide-react";
import type { RequiredCall as PendingCall } from "../../../../server/core/run-event.ts";
import { isJsonObject } from "../../lib/json-text.ts";
import { JsonView } from "../../ui/json-view.tsx";

const words = { output: "waits for its output", approval: "waits for approval", reconcile: "has an unknown outcome" };

/** A call that waits, for who may look but not answer. */
export function UnansweredCall({ call }: { call: Pick<PendingCall, "tool" | "needs" | "arguments"> }) {
  const isEmpty = isJsonObject(call.arguments) && Object.keys(call.arguments).length === 0;
  return (
    <article className="flex min-w-0 flex-col gap-2 rounded-md border border-line p-3">
      <h3 className="flex min-w-0 items-start gap-2 font-strong wrap-anywhere">
        <CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" strokeWidth={1.5} />
        {call.tool} {words[call.needs]}
      </h3>
      {!isEmpty && <JsonView value={call.arguments} />}
    </article>
  );
}
