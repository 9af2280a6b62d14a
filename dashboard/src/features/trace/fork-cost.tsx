import { useQuery } from "@tanstack/react-query";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { formatCost, formatCount, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import type { ForkDraft } from "./fork-draft.ts";
import { type ForkEstimate, forkEstimate, type Unpriced } from "./fork-estimate.ts";
import type { ForkSlot } from "./slots.ts";

/** What a fork will take, before it begins: of the recorded calls that it makes again. */
export function ForkCost({
  run,
  step,
  steps,
  hasMore,
  draft,
}: Omit<ForkSlot, "onDone" | "onClose"> & { draft: ForkDraft }) {
  const at = useWorkspace();
  const { data: models, isLoading } = useQuery(modelsQuery(at));
  const agent = useQuery({ ...agentApi.one(at, run.agent_id), enabled: draft.isCurrent });
  const wanted = draft.model.trim() || (draft.isCurrent ? agent.data?.model : undefined) || run.model;
  const priceOf = (model: string) => models?.data.find(({ id }) => id === model)?.prices ?? null;
  const model = wanted === run.model ? null : wanted;
  const estimate = forkEstimate({ steps, step, draft, model, priceOf });
  return (
    <p role="status" className="min-w-0 flex-1 basis-40 text-xs text-muted">
      {!isLoading && !agent.isLoading && words(estimate, hasMore, models !== undefined)}
    </p>
  );
}

function words(estimate: ForkEstimate | null, hasMore: boolean, isPriced: boolean): string {
  if (!estimate)
    return hasMore ? "Cost: not all steps are here yet." : "Cost unknown: no model call is recorded after this step.";
  const { model_calls, tokens, cost_usd, unpriced, agents } = estimate;
  const calls = plural(model_calls, "model call");
  const spent = `${tokens === null ? "tokens unknown" : `${formatCount(tokens)} tokens`}, if it goes on as recorded.`;
  const more = agents > 0 ? " Called agents come on top." : "";
  if (unpriced) {
    const reason = unpriced === "price" && !isPriced ? "the prices cannot be read" : reasons[unpriced];
    return `Cost unknown: ${reason}. ${calls}, ${spent}${more}`;
  }
  return `${hasMore ? "At least" : "About"} ${formatCost(cost_usd)} for ${calls}, ${spent}${more}`;
}

const reasons: Record<Unpriced, string> = {
  tokens: "nobody told the tokens of a recorded call",
  price: "no price is known",
  length: "a recorded prompt is longer than the price of the model holds for",
  judge: "nobody told what the judge of a guardrail cost",
};
