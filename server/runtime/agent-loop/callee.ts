import { defaultFailover } from "../../domain/failover.ts";
import type { ModelRequest, PromptMessage } from "../../domain/model-call.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { itemOf } from "../../domain/provider-items.ts";
import { activeModels } from "../../domain/run-models.ts";
import type { RunState } from "../../domain/run-state.ts";
import { requestedTier } from "../../domain/service-tier.ts";
import { type InputKinds, takenBy } from "../models/input-kinds.ts";
import type { Connection, Model } from "../models/model.ts";
import { parseModel } from "../models/registry.ts";
import { priceIn } from "../models/run-price.ts";
import type { Candidate, RunStart } from "./messages.ts";
import { extraSettings } from "./model-extras.ts";
import type { RunContext } from "./run-context.ts";
import type { Asked } from "./spending.ts";
import { suitDocuments } from "./suit-documents.ts";

/** A model that is called now. */
export interface Callee {
  /** Its full name. */
  id: string;
  /** Its provider, its name there, and the service tier that is asked for. */
  at: Asked;
  /** Kinds of content that it takes. */
  takes: InputKinds;
  model: Model;
  connection: Connection;
  /** Null if unknown. */
  price: ModelPrice | null;
  /** Its name for the costs of its calls; absent for the run's first model. */
  counted: { model?: string };
  /** Call it when the answer begins: the server is back. */
  begins(): void;
}

/** Returns a model with its connection, which is one of the run's own; null if none of them has the model. */
export function connectedModel(
  name: string,
  { connection, candidates = [] }: Pick<RunStart, "connection" | "candidates">,
): Pick<Candidate, "connection" | "model"> | null {
  const parsed = parseModel(name);
  const found = [connection, ...candidates.map((one) => one.connection)].find(
    (each) => each.provider === parsed?.provider && each.name === parsed.connection,
  );
  return parsed && found ? { connection: found, model: parsed.model } : null;
}

/** Opens a model of the run, or of one of its judges. Rejects one that none of the run's connections has. */
export async function openCallee({ start, state, ports }: RunContext, id: string): Promise<Callee> {
  const { run, handoffs } = state();
  const { candidates: [first] = [] } = start;
  // Another agent has other settings.
  const isFirst = handoffs.length === 0 && id === (first?.id ?? run.model);
  const { connection, model } = connectedModel(id, start) ?? start;
  const tier = requestedTier(extraSettings({ connection, model }, start));
  let hasBegun = false;
  return {
    id,
    at: { provider: connection.provider, model, ...(tier !== null && { tier }) },
    takes: takenBy(connection.provider, model),
    model: isFirst ? ports.model : await ports.modelNamed(id, start.agent),
    connection,
    price: start.judge_prices?.[id] === undefined ? priceIn(run, id) : start.judge_prices[id],
    counted: id === run.model ? {} : { model: id },
    begins() {
      if (!hasBegun) ports.breakers?.report(id, { is: "answering" });
      hasBegun = true;
    },
  };
}

/** Returns the models that may answer a call of the run, the one that it asks now first, and when the next is asked. */
export function runModels({ state, start }: Pick<RunContext, "state" | "start">) {
  const { run, model, handoffs } = state();
  const all = activeModels(run, handoffs);
  const models = [...all.filter((one) => one.model === model), ...all.filter((one) => one.model !== model)];
  return { models, failover_on: start.agent.failover_on ?? defaultFailover };
}

/** Returns the request for this model, which may replace another: with an answer that it can give, and a prompt for it. */
export function suitRequest(
  request: ModelRequest,
  { price, counted, at, takes }: Callee,
  { is_continued = false }: Pick<RunState, "is_continued">,
): ModelRequest {
  const own = suitDocuments(request.messages, takes);
  const messages = is_continued ? withContinuation(own, at.provider) : own;
  const { max_output_tokens: wanted } = request.settings;
  const most = price?.max_output_tokens;
  if (counted.model === undefined || wanted === undefined || most === undefined || wanted <= most)
    return messages === request.messages ? request : { ...request, messages };
  return { ...request, messages, settings: { ...request.settings, max_output_tokens: most } };
}

/**
 * Asks for the rest of an answer that another provider paused: only that one goes on by itself, and Google refuses a
 * prompt that ends with an answer.
 */
function withContinuation(messages: PromptMessage[], provider: string): PromptMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.parts.some((part) => itemOf(part)?.provider === provider)) return messages;
  return [...messages, { role: "user", content: "Continue." }];
}
