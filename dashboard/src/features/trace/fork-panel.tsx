import { useMutation, useQuery } from "@tanstack/react-query";
import { GitFork, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { useUnsaved } from "../../hooks/use-unsaved.ts";
import { resourceUrl } from "../../lib/api.ts";
import { formatCost, formatCount, plural } from "../../lib/format.ts";
import { createPostOnce } from "../../lib/post-once.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { FoldedCode } from "../../ui/forms/show-code.tsx";
import { draftFaults, editableOf, type ForkDraft, forkBody, isOutputChanged, recordedDraft } from "./fork-draft.ts";
import { type ForkEstimate, forkEstimate, type Unpriced } from "./fork-estimate.ts";
import { ForkFields, ForkOutput } from "./fork-fields.tsx";
import type { ForkSlot } from "./found-trace.tsx";

/** Form that forks a run after a step with changes. */
export function ForkPanel({ run, step, steps, hasMore, onDone, onClose }: ForkSlot) {
  const at = useWorkspace();
  const [postOnce] = useState(createPostOnce);
  const recorded = useMemo(() => recordedDraft(run, step), [run, step]);
  const [draft, setDraft] = useState<ForkDraft>(recorded);
  const form = useRef<HTMLFormElement>(null);
  useEffect(
    () => form.current?.querySelector<HTMLElement>("textarea, [role=textbox], input, button[type=submit]")?.focus(),
    [],
  );
  const body = forkBody(step, draft, recorded, run.variables);
  const path = `/runs/${encodeURIComponent(run.id)}/fork`;
  const create = useMutation({
    mutationFn: () => postOnce<Run>(resourceUrl(at, path), body),
    onSuccess: ({ id }) => {
      toast("Fork created", "“Compare with it”, at the top, shows what changed.");
      onDone(id);
    },
  });
  const faults = draftFaults(step, draft);
  const isWrong = faults.output !== null || faults.calls !== null;
  const isGuardrail = step.type === "guardrail";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isWrong && !isGuardrail && !create.isPending) create.mutate();
  };
  const isEdited = JSON.stringify(draft) !== JSON.stringify(recorded);
  useUnsaved(isEdited && !create.isPending);
  const onKey = (event: KeyboardEvent<HTMLFormElement>) => {
    sendOnEnter(event);
    // Escape must not discard edits.
    if (event.key === "Escape" && !event.defaultPrevented && !isEdited) onClose();
  };
  const change = (part: Partial<ForkDraft>) => setDraft((before) => ({ ...before, ...part }));
  return (
    <form
      ref={form}
      aria-label="Fork"
      onSubmit={submit}
      onKeyDown={onKey}
      noValidate
      className="flex min-h-0 flex-1 flex-col border-accent rail:border-l-2"
    >
      <ForkHead step={step} onClose={onClose} />
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4 rail:px-5">
        {isGuardrail ? (
          <Callout tone="info">A guardrail cannot be forked from. Choose the step that it checked.</Callout>
        ) : (
          <>
            {editableOf(step) !== "nothing" && (
              <ForkOutput
                step={step}
                draft={draft}
                faults={faults}
                isSame={!isOutputChanged(draft, recorded)}
                onChange={change}
                onRestore={() => change({ output: recorded.output, calls: recorded.calls, isError: recorded.isError })}
              />
            )}
            <ForkFields run={run} step={step} draft={draft} onChange={change} />
            <FoldedCode name="fork" request={{ method: "POST", path: `/v1${path}`, body }} />
          </>
        )}
        <ErrorNote title="No fork was created" error={create.error} />
      </div>
      <footer className="flex shrink-0 flex-wrap items-center justify-end gap-2 border-t border-line bg-subtle px-4 py-3 rail:px-5">
        {!isGuardrail && <ForkCost run={run} step={step} steps={steps} hasMore={hasMore} draft={draft} />}
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" kind="primary" disabled={isWrong || isGuardrail || create.isPending}>
          <GitFork aria-hidden className="size-4" strokeWidth={1.5} />
          {create.isPending ? "Creating" : "Create fork"}
        </Button>
      </footer>
    </form>
  );
}

function ForkHead({ step, onClose }: Pick<ForkSlot, "step" | "onClose">) {
  const { step_index: index, type, name } = step;
  const editable = editableOf(step);
  const rest =
    editable === "nothing" ? "" : ` You decide what step ${index} ${editable === "tool" ? "returned" : "said"}.`;
  return (
    <header className="flex shrink-0 flex-col gap-1 border-b border-line-soft px-4 pt-3 pb-2 rail:px-5">
      <div className="flex min-w-0 items-center gap-2">
        <StepIcon type={type} />
        <h2 className="cut min-w-0 flex-1" title={name}>
          Fork from {name}
        </h2>
        <Button kind="ghost" size="icon-sm" aria-label="Close the fork" onClick={onClose}>
          <X aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
      </div>
      <p className="text-xs text-muted">
        A new run that shares {index === 0 ? "step 0" : `steps 0 to ${index}`} with this one, at no cost.{rest}
      </p>
    </header>
  );
}

/** Estimated cost of the fork. */
function ForkCost({ run, step, steps, hasMore, draft }: Omit<ForkSlot, "onDone" | "onClose"> & { draft: ForkDraft }) {
  const at = useWorkspace();
  const { data: models, isLoading } = useQuery(modelsQuery(at));
  const agent = useQuery({ ...agentApi.one(at, run.agent_id), enabled: draft.isCurrent });
  const modelName = draft.model.trim() || (draft.isCurrent ? agent.data?.model : undefined) || run.model;
  const priceOf = (model: string) => models?.data.find(({ id }) => id === model)?.prices ?? null;
  const model = modelName === run.model ? null : modelName;
  const estimate = forkEstimate({ steps, step, draft, model, priceOf });
  return (
    <p role="status" className="min-w-0 flex-1 basis-40 text-xs text-muted">
      {!isLoading && !agent.isLoading && words(estimate, hasMore, models !== undefined)}
    </p>
  );
}

function words(estimate: ForkEstimate | null, hasMore: boolean, isPriced: boolean): string {
  if (!estimate)
    return hasMore ? "Cost: steps are still loading." : "Cost unknown: no model call is recorded after this step.";
  const { model_calls, tokens, cost_usd, unpriced, agents } = estimate;
  const calls = plural(model_calls, "model call");
  const spent = `${tokens === null ? "tokens unknown" : `${formatCount(tokens)} tokens`}, if it continues as recorded.`;
  const more = agents > 0 ? " Called agents are not included." : "";
  if (unpriced) {
    const reason = unpriced === "price" && !isPriced ? "the prices cannot be loaded" : reasons[unpriced];
    return `Cost unknown: ${reason}. ${calls}, ${spent}${more}`;
  }
  return `${hasMore ? "At least" : "About"} ${formatCost(cost_usd)} for ${calls}, ${spent}${more}`;
}

const reasons: Record<Unpriced, string> = {
  tokens: "the tokens of a recorded call are unknown",
  price: "a model has no price",
  length: "a recorded prompt exceeds the range of the price",
  judge: "the cost of a guardrail judge is unknown",
};
