import type { ConnectionCheck } from "../../domain/api-types/console.ts";
import { hasCredentials, secretsOf } from "../../domain/cloud-connection.ts";
import type { CheckName, FeatureCheck } from "../../domain/connection-check.ts";
import { responseIncomplete } from "../../domain/error-messages.ts";
import type { ModelRequest, ModelUsage } from "../../domain/model-call.ts";
import { fieldsOf, parsedJson } from "../../lib/json.ts";
import { textOf } from "../../runtime/models/body-text.ts";
import { type AnswerObserver, type Connection, type ModelError, unknownUsage } from "../../runtime/models/model.ts";
import { toModelError } from "../../runtime/models/model-error.ts";
import { type Fetch, modelFetch } from "../../runtime/models/model-fetch.ts";
import { openModel } from "../../runtime/models/registry.ts";

/** Result of one small request. */
interface Asked {
  text: string;
  reasoning: string;
  calls: string[];
  usage: ModelUsage;
  error: ModelError | null;
  latency_ms: number;
  /** Status of the last response; null if the server did not respond. */
  status: number | null;
  isStream: boolean;
  /** The server's words with which it refused the first attempt, also if a later one succeeded. */
  refusal: string | null;
}

type Ask = (request: Partial<ModelRequest>) => Promise<Asked>;

const refusalMax_bytes = 16 * 1024;
const textMax = 10_000;

interface AskOptions extends Pick<AnswerObserver, "onAdjustments"> {
  signal: AbortSignal;
  patience_ms: number;
  /** Time of `performance.now()` at which the whole test ends. */
  deadline_ms: number;
  /** Sends the requests; absent: the usual one. */
  fetch?: Fetch;
}

/**
 * Returns a function that asks a connection's model as a run would, each time within a time limit and before the
 * deadline of `performance.now()`. Never throws, unless `signal` is aborted.
 */
export async function openAsk(
  connection: Connection,
  model: string,
  { signal, patience_ms, deadline_ms, onAdjustments, fetch = modelFetch }: AskOptions,
): Promise<Ask> {
  const secrets = secretsOf(connection);
  let seen: Pick<Asked, "status" | "isStream" | "refusal"> = { status: null, isStream: false, refusal: null };
  const watched = async (...request: Parameters<Fetch>): Promise<Response> => {
    const response = await fetch(...request);
    seen.status = response.status;
    seen.isStream = /^(text\/event-stream|application\/vnd\.amazon\.eventstream)/.test(
      response.headers.get("content-type") ?? "",
    );
    if (!response.ok) seen.refusal ??= await wordsOf(response.clone() as Response, secrets);
    return response;
  };
  const client = await openModel(connection, model, Object.assign(watched, { preconnect: modelFetch.preconnect }));

  return async (request) => {
    seen = { status: null, isStream: false, refusal: null };
    const startTime = performance.now();
    const left_ms = Math.max(1, Math.min(patience_ms, deadline_ms - startTime));
    const timeout = AbortSignal.timeout(left_ms);
    const asked: Asked = {
      text: "",
      reasoning: "",
      calls: [],
      usage: unknownUsage,
      error: { ...toModelError("", secrets), message: responseIncomplete },
      latency_ms: 0,
      ...seen,
    };
    const observer: AnswerObserver = { onByte() {}, onArguments() {}, onAdjustments };
    const full = { messages: [], tools: [], settings: {}, ...request };
    for await (const event of client.stream(full, AbortSignal.any([signal, timeout]), observer)) {
      if (event.type === "delta" && event.kind === "output") asked.text = (asked.text + event.text).slice(0, textMax);
      else if (event.type === "delta") asked.reasoning = (asked.reasoning + event.text).slice(0, textMax);
      else if (event.type === "tool_call") asked.calls.push(event.name);
      else if (event.type === "done" || event.type === "error") {
        asked.usage = event.usage;
        asked.error = event.type === "error" ? event.error : null;
      }
    }
    signal.throwIfAborted();
    if (asked.error && timeout.aborted)
      asked.error = {
        ...asked.error,
        message: `The provider did not answer within ${Math.ceil(left_ms / 1000)} seconds.`,
      };
    return { ...asked, ...seen, latency_ms: Math.round(performance.now() - startTime) };
  };
}

/** Returns the server's own words without secrets. */
async function wordsOf(response: Response, secrets: readonly string[]): Promise<string> {
  const facts = { statusCode: response.status, responseBody: await textOf(response, refusalMax_bytes).catch(() => "") };
  return toModelError(Object.assign(new Error(response.statusText), facts), secrets).message;
}

interface FeatureTest {
  /** One request, or two for a feature that shows in the second. */
  requests: (connection: Connection) => readonly Partial<ModelRequest>[];
  /** Judges the last answer. */
  judge(asked: Asked): Pick<ConnectionCheck, "result" | "message">;
}

const user = (content: string): ModelRequest["messages"] => [{ role: "user", content }];
const yes = (message: string | null = null) => ({ result: "yes" as const, message });
const unknown = (message: string) => ({ result: "unknown" as const, message });

// Reasoning models spend tokens before they answer; with fewer they would end without a call.
const outputMax = 1024;

/** Feature checks, with a limit of tokens each. */
const features: Record<FeatureCheck, FeatureTest> = {
  tools: {
    requests: () => [
      {
        messages: user("What is the weather in Oslo? Call the tool."),
        tools: [
          {
            name: "weather",
            description: "Returns the weather of a city.",
            parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          },
        ],
        settings: { max_output_tokens: outputMax },
      },
    ],
    judge: ({ calls }) =>
      calls.length > 0 ? yes() : unknown("The server accepted the tool, but the model answered without calling it."),
  },
  reasoning: {
    requests: () => [
      {
        messages: user("Is 91 a prime number? Answer with yes or no."),
        // Anthropic's older models think in 1,024 tokens at least.
        settings: { max_output_tokens: 2 * outputMax, reasoning_effort: "low" },
      },
    ],
    judge({ reasoning, usage, refusal }) {
      if (reasoning !== "" || (usage.reasoning_tokens ?? 0) > 0)
        return yes(usage.reasoning_tokens ? `${usage.reasoning_tokens} reasoning tokens` : null);
      // The call went on without the refused setting.
      if (refusal !== null) return { result: "no", message: refusal };
      return unknown("The server accepted the setting, but reports no reasoning.");
    },
  },
  structured_output: {
    requests: () => [
      {
        messages: user("Name the capital of Norway."),
        settings: { max_output_tokens: outputMax },
        output_schema: {
          type: "object",
          properties: { capital: { type: "string" } },
          required: ["capital"],
          additionalProperties: false,
        },
      },
    ],
    judge: ({ text, refusal }) => {
      const fits = typeof fieldsOf(parsedJson(text)).capital === "string";
      if (refusal !== null && /format|schema|json|grammar/i.test(refusal))
        return {
          result: "no",
          message: `${refusal} ${fits ? "runnel asks for JSON in words instead, which worked." : "Asking for JSON in words did not help."}`,
        };
      return fits ? yes() : unknown("The server accepted the schema, but the answer does not fit it.");
    },
  },
  prompt_caching: {
    requests: (connection) => {
      const messages: ModelRequest["messages"] = [
        { role: "system", content: longPrompt(connection) },
        { role: "user", content: "Answer with the one word: ready" },
      ];
      const request = { messages, settings: { max_output_tokens: 64 } };
      return [request, request];
    },
    judge: ({ usage: { cached_input_tokens: cached, input_tokens } }) => {
      if (cached === null) return unknown("The server does not report how many tokens it took from its cache.");
      if (cached === 0) return unknown("The second of two equal requests took no token from the cache.");
      return yes(
        `${cached.toLocaleString("en-US")} of ${input_tokens?.toLocaleString("en-US") ?? "the"} prompt tokens came from the cache.`,
      );
    },
  },
  images: {
    requests: () => [
      {
        messages: [{ role: "user", content: "Which colour is this? Answer with one word.", images: [redImage] }],
        settings: { max_output_tokens: outputMax },
      },
    ],
    judge: ({ text }) =>
      /\bred\b/i.test(text)
        ? yes()
        : unknown(`The server accepted a red image. The model said: “${text.slice(0, 80)}”`),
  },
};

/** False for a request that the server refused: it costs nothing. */
export const isCharged = ({ error, status }: Pick<Asked, "error" | "status">): boolean =>
  error === null || (status !== null && status < 400);

/** Makes a feature check. Adds its usage with `count`. */
export async function checkFeature(
  name: FeatureCheck,
  connection: Connection,
  ask: Ask,
  count: (usage: ModelUsage) => void,
): Promise<ConnectionCheck> {
  const { requests, judge } = features[name];
  let latency_ms = 0;
  let last: Asked | null = null;
  for (const request of requests(connection)) {
    last = await ask(request);
    latency_ms += last.latency_ms;
    if (isCharged(last)) count(last.usage);
    if (last.error) break;
  }
  if (!last) throw new Error(`The check ${name} has no request.`);
  const verdict = last.error ? failureOf(last.error, last) : judge(last);
  return { check: name, ...verdict, latency_ms };
}

// 408 and 429 say nothing about the request.
const refusals = new Set([400, 403, 404, 405, 413, 415, 422, 500, 501]);

function failureOf(error: ModelError, { status, refusal }: Asked): Pick<ConnectionCheck, "result" | "message"> {
  const isRefused = status !== null && refusals.has(status);
  return { result: isRefused ? "no" : "unknown", message: isRefused ? (refusal ?? error.message) : error.message };
}

/** Judges the first request: whether the server was reached, took the key, answered and streamed. */
export function basicChecks(connection: Connection, asked: Asked): ConnectionCheck[] {
  const isOpen = !hasCredentials(connection);
  const { error, status, latency_ms, isStream, text } = asked;
  const line = (
    check: CheckName,
    result: ConnectionCheck["result"],
    message: string | null = null,
  ): ConnectionCheck => ({ check, result, message, latency_ms: check === "answer" ? latency_ms : null });
  if (status === null)
    return [line("reachable", "no", error?.message ?? null), ...skipped(["key", "answer", "stream"], "not reached")];
  if (status === 401 || (status === 403 && error))
    return [line("reachable", "yes"), line("key", "no", error?.message), ...skipped(["answer", "stream"], "no access")];
  // A server that failed may not have looked at the key.
  const keyResult = error && status >= 500 ? "unknown" : isOpen ? "skipped" : "yes";
  const key = line("key", keyResult, isOpen ? "The connection has no key." : null);
  if (error)
    return [line("reachable", "yes"), key, line("answer", "no", error.message), ...skipped(["stream"], "no answer")];
  return [
    line("reachable", "yes"),
    key,
    line("answer", "yes", text.trim() === "" ? "The answer has no text." : `“${text.trim().slice(0, 80)}”`),
    line("stream", isStream ? "yes" : "no", isStream ? null : "The server sends an answer as a whole."),
  ];
}

/** Lines for checks that were not made. */
export const skipped = (checks: readonly CheckName[], message: string): ConnectionCheck[] =>
  checks.map((check) => ({ check, result: "skipped", message, latency_ms: null }));

// Caches begin at 1,024 tokens with most providers, and at 4,096 with some models of these.
const longCaches: ReadonlySet<string> = new Set(["anthropic", "google", "bedrock", "vertex"]);
const tokensOfSentence = 12;

/** A prompt that is long enough for the provider's cache, and always the same. */
function longPrompt({ provider }: Connection): string {
  const count = Math.ceil((longCaches.has(provider) ? 4600 : 1500) / tokensOfSentence);
  const sentences = Array.from(
    { length: count },
    (_, index) => `Rule ${index + 1}: be brief, be friendly, and be exact.`,
  );
  return `You are a test. These rules are here to be long.\n${sentences.join("\n")}`;
}

/** A red square of 32 × 32 pixels. */
const redImage = {
  file_id: "file_test",
  mime_type: "image/png",
  sha256: "0".repeat(64),
  data: "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC",
};
