import { type FailoverReason, failoverReasons } from "../../domain/failover.ts";
import type { ModelError } from "../models/model.ts";

/** Returns the kind of failure after which another model may be asked; null for faults of the request or the answer. */
function failoverReason({ code, retryable, aborted, filtered }: ModelError): FailoverReason | null {
  if (aborted) return null;
  if (filtered) return "content_filter";
  if (code === "model_rate_limited") return "rate_limit";
  if (code === "context_length_exceeded") return "overflow";
  // Refused credentials and a missing model are an outage for everything but the request.
  return retryable || code === "model_not_available" ? "outage" : null;
}

/** True if a failure says that the model's server is away, fails or asks to wait. */
export const isOutage = (error: ModelError): boolean =>
  error.retryable && !error.aborted && failoverReason(error) !== null && !error.filtered;

interface LineModel {
  model: string;
  context_window: number | null;
}

/**
 * The models that may answer a call, in their order, and what became of them in this call. A model that cannot answer is
 * not asked again; one that failed transiently is asked again when all others have been.
 */
export function createModelLine(
  models: readonly LineModel[],
  failover_on: readonly FailoverReason[] = failoverReasons,
) {
  const attempts = new Map<string, number>();
  const failed = new Map<string, ModelError>();
  const out = new Map<string, ModelError>();
  const windowOf = (name: string) => models.find(({ model }) => model === name)?.context_window ?? null;

  const isOpen = ({ model }: LineModel): boolean => !failed.has(model) && !out.has(model);

  /** True if a model may take a prompt that was too long for another one. */
  const isWider = (model: string, than: string): boolean => {
    const [its, known] = [windowOf(model), windowOf(than)];
    return its !== null && (known === null || its > known);
  };

  return {
    /** Models that may be asked now, this one first. */
    open(first: string): string[] {
      const all = models.filter(isOpen).map(({ model }) => model);
      return all.includes(first) ? [first, ...all.filter((one) => one !== first)] : all;
    },
    /** True if a model has failed in this call. */
    hasFailed: (): boolean => failed.size + out.size > 0,
    /** Number of failed attempts of a model. */
    attempts: (model: string): number => attempts.get(model) ?? 0,
    /** Notes a failure. Returns the models that may be asked instead. */
    fail(model: string, error: ModelError): string[] {
      attempts.set(model, (attempts.get(model) ?? 0) + 1);
      (isOutage(error) ? failed : out).set(model, error);
      const reason = failoverReason(error);
      if (reason === null || !failover_on.includes(reason)) return [];
      const others = models.filter(isOpen).map((one) => one.model);
      return reason === "overflow" ? others.filter((one) => isWider(one, model)) : others;
    },
    /** Lets a model be asked again. */
    reopen: (model: string): boolean => failed.delete(model),
    /** Takes a model out of the call. */
    drop: (model: string, error: ModelError): void => void out.set(model, error),
    /** The transient failure that is most likely to pass; null if there is none. */
    passing: (): ModelError | null =>
      [...failed.values()].sort((a, b) => Number(isAway(b)) - Number(isAway(a)))[0] ?? null,
    /** Lets every model that failed transiently be asked again. */
    nextRound: (): void => failed.clear(),
    /** The final error: that of the only model, or what each of several answered. */
    summary(last: ModelError, reason = ""): ModelError {
      const said = reason === "" ? last.message : `${last.message} ${reason}`;
      const all = [...out, ...failed];
      if (models.length === 1 || all.length < 2) return said === last.message ? last : { ...last, message: said };
      const each = all.map(([model, { message }]) => `${model}: ${message}`);
      return { ...last, message: ["No model could answer.", ...each, reason].filter(Boolean).join(" ") };
    },
  };
}

const isAway = ({ request, unready }: ModelError): boolean => request === "not_sent" || unready === true;

export type ModelLine = ReturnType<typeof createModelLine>;
