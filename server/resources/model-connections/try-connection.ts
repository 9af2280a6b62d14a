import type { ConnectionCheck, Tried } from "../../domain/api-types/console.ts";
import { type FeatureCheck, featureChecks } from "../../domain/connection-check.ts";
import { costOf } from "../../domain/cost.ts";
import type { CodedError } from "../../domain/errors.ts";
import type { ListedModel } from "../../domain/listed-model.ts";
import type { ModelUsage } from "../../domain/model-call.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { unlessAborted } from "../../lib/on-abort.ts";
import { type AskToken, tokenFetch } from "../../runtime/models/connection-token.ts";
import { builtInTable, offeredModels, partsOf } from "../../runtime/models/known-models.ts";
import type { Connection } from "../../runtime/models/model.ts";
import type { Fetch } from "../../runtime/models/model-fetch.ts";
import { listModels } from "../../runtime/models/model-list.ts";
import { modelPrefix } from "../../runtime/models/registry.ts";
import { basicChecks, checkFeature, isCharged, openAsk, skipped } from "./connection-checks.ts";

const patience_ms = 20_000;
const wholePatience_ms = 120_000;
const outputMax = 200;
const question = "Answer with the one word: ready";

interface TryOptions {
  /** Null: a cheap one that the server lists. */
  model: string | null;
  /** Features to check after the first request. */
  checks?: readonly FeatureCheck[];
  /** Ends the test: it then throws the signal's reason. */
  signal?: AbortSignal;
  /** Called with each line as soon as it is known. */
  onCheck?: (check: ConnectionCheck) => void;
  priceOf?: (fullName: string) => ModelPrice | null;
  /** Gets the token of a connection with OAuth; `rejected` is one that the server refused. */
  tokenOf?: AskToken;
}

/**
 * Tests a connection: one request of a word, and one small request for each feature, in turn. Nothing is repeated, and
 * a test ends after two minutes.
 */
export async function tryConnection(
  given: Connection,
  {
    model,
    checks: wanted = [],
    signal = new AbortController().signal,
    onCheck = () => {},
    priceOf = () => null,
    tokenOf,
  }: TryOptions,
): Promise<Tried> {
  const startTime = performance.now();
  const deadline_ms = startTime + wholePatience_ms;
  const checks: ConnectionCheck[] = [];
  const show = (...lines: ConnectionCheck[]): void => {
    for (const line of lines) {
      checks.push(line);
      onCheck(line);
    }
  };
  const usages: ModelUsage[] = [];
  const adjustments = new Set<string>();
  const result = (fields: Pick<Tried, "ok" | "model" | "output" | "error">): Tried => ({
    ...fields,
    latency_ms: Math.round(performance.now() - startTime),
    usage: fields.ok ? sumOf(usages) : null,
    cost_usd: fields.model === null ? null : costIn(usages, priceOf(`${modelPrefix(given)}/${fields.model}`)),
    checks,
    adjustments: [...adjustments],
  });
  const authorized = await authorize(given, tokenOf, signal);
  show(...authorized.lines);
  const { connection, fetch } = authorized;
  if (!connection) {
    show(
      ...skipped(
        ["reachable", "key", "answer", "stream", ...featureChecks.filter((each) => wanted.includes(each))],
        "no access token",
      ),
    );
    return result({ ok: false, model: null, output: null, error: authorized.error });
  }
  const chosen = model === null ? await chooseModel(connection, signal, fetch) : { name: model, reason: null };
  signal.throwIfAborted();
  if (chosen.name === null) {
    show(...chosen.lines);
    show(
      ...skipped(
        featureChecks.filter((each) => wanted.includes(each)),
        "no model",
      ),
    );
    return result({
      ok: false,
      model: null,
      output: null,
      error: { code: "model_not_available", message: chosen.reason },
    });
  }
  const { name } = chosen;
  const ask = await openAsk(connection, name, {
    signal,
    patience_ms,
    deadline_ms,
    fetch,
    onAdjustments: (all) => {
      for (const { field, message } of all) adjustments.add(`${field}: ${message}`);
    },
  });
  const first = await ask({
    messages: [{ role: "user", content: question }],
    settings: { max_output_tokens: 64 },
  });
  if (isCharged(first)) usages.push(first.usage);
  show(...basicChecks(connection, first));
  for (const each of featureChecks.filter((feature) => wanted.includes(feature)))
    if (first.error) show(...skipped([each], "no answer"));
    else if (performance.now() > deadline_ms) show(...skipped([each], "no time left"));
    else show(await checkFeature(each, connection, ask, (usage) => usages.push(usage)));
  const output = first.error ? null : first.text.trim().slice(0, outputMax) || null;
  const error = first.error && { code: first.error.code, message: first.error.message };
  return result({ ok: error === null, model: name, output, error });
}

type Authorized =
  | { connection: Connection; fetch?: Fetch; lines: ConnectionCheck[] }
  | { connection: null; fetch?: undefined; error: CodedError; lines: ConnectionCheck[] };

/** Gets the token of a connection with OAuth, which is the first step that can fail. */
async function authorize(
  connection: Connection,
  tokenOf: AskToken | undefined,
  signal: AbortSignal,
): Promise<Authorized> {
  const { token_source } = connection;
  if (token_source === undefined || !tokenOf) return { connection, lines: [] };
  const startTime = performance.now();
  const found = await unlessAborted(tokenOf(token_source), signal);
  const latency_ms = Math.round(performance.now() - startTime);
  if (found.status === "ready") {
    const lines: ConnectionCheck[] = [{ check: "token", result: "yes", message: null, latency_ms }];
    const fetch = tokenFetch((rejected) => tokenOf(token_source, rejected));
    return { connection: { ...connection, api_key: found.token }, fetch, lines };
  }
  const { message } = found;
  const error = { code: "model_not_available", message: `The connection got no access token: ${message}` };
  return { connection: null, error, lines: [{ check: "token", result: "no", message, latency_ms }] };
}

/** Null if a request's number of tokens is unknown. */
function sumOf(usages: readonly ModelUsage[]): Tried["usage"] {
  const sum = (field: "input_tokens" | "output_tokens"): number | null =>
    usages.reduce<number | null>(
      (total, usage) => (total === null || usage[field] === null ? null : total + usage[field]),
      0,
    );
  return { input_tokens: sum("input_tokens"), output_tokens: sum("output_tokens") };
}

function costIn(usages: readonly ModelUsage[], price: ModelPrice | null): number | null {
  const costs = usages.map((usage) => costOf(price, usage));
  return costs.reduce<number | null>((total, cost) => (total === null || cost === null ? null : total + cost), 0);
}

type Choice = { name: string; reason: null } | { name: null; reason: string; lines: ConnectionCheck[] };

/** Chooses a model that the server lists: the cheapest known one, or else its first for chats. */
async function chooseModel(connection: Connection, signal: AbortSignal, fetch?: Fetch): Promise<Choice> {
  const { models, error } = await listModels(connection, { signal, fetch });
  const usual = usualModel(connection, models);
  if (usual !== null && error?.code !== "key_refused" && error?.code !== "unreachable")
    return { name: usual, reason: null };
  const isAway = error?.code === "unreachable" || error?.code === "timeout";
  const isRefused = error?.code === "key_refused";
  const reason = `${error?.message ?? "The server lists no models."}${isAway || isRefused ? "" : " Name a model that it has."}`;
  const line = (check: ConnectionCheck["check"], result: ConnectionCheck["result"]): ConnectionCheck => ({
    check,
    result,
    message: result === "no" ? (error?.detail ?? reason) : null,
    latency_ms: null,
  });
  const lines = isAway
    ? [line("reachable", "no"), ...skipped(["key", "answer", "stream"], "not reached")]
    : [
        line("reachable", "yes"),
        ...(isRefused ? [line("key", "no")] : skipped(["key"], "no model")),
        ...skipped(["answer", "stream"], "no model"),
      ];
  return { name: null, reason, lines };
}

function usualModel({ provider, region }: Connection, models: readonly ListedModel[] | null): string | null {
  // Clouds list their models to other credentials, so that they need one here.
  if (provider === "bedrock") return `${profilePrefix(region)}amazon.nova-micro-v1:0`;
  if (provider === "vertex") return "gemini-2.5-flash-lite";
  const cheapest = offeredModels(builtInTable().lines)
    .toSorted((a, b) => a.rates.output - b.rates.output)
    .map(({ id }) => ({ provider: partsOf(id)[0], model: partsOf(id)[1] }));
  if (models === null || models.length === 0)
    return cheapest.find((known) => known.provider === provider)?.model ?? null;
  const chat = models.filter(({ kind, is_deprecated }) => kind === "chat" && !is_deprecated);
  // A gateway lists them under the provider's name: `openai/gpt-5-nano`.
  const isOf = (known: (typeof cheapest)[number], id: string) =>
    (known.provider === provider && id.startsWith(known.model)) || id === `${known.provider}/${known.model}`;
  for (const known of cheapest) {
    const found = chat.find(({ id }) => isOf(known, id));
    if (found) return found.id;
  }
  return (chat[0] ?? models[0])?.id ?? null;
}

/** Returns the prefix of the inference profiles near a region of AWS; most regions serve models by them alone. */
function profilePrefix(region = ""): string {
  const [continent = ""] = /^(us|eu|ap)(?=-(?!gov))/.exec(region) ?? [];
  return continent === "ap" ? "apac." : continent && `${continent}.`;
}
