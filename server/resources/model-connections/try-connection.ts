import type { Tried } from "../../domain/api-types/console.ts";
import { responseIncomplete } from "../../domain/error-messages.ts";
import { knownModels } from "../../runtime/models/known-models.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { modelFetch } from "../../runtime/models/model-fetch.ts";
import { ollamaUrl } from "../../runtime/models/ollama.ts";
import { openModel } from "../../runtime/models/registry.ts";

const patience_ms = 20_000;
const listMax_bytes = 1_048_576;
const outputMax = 200;
const question = "Answer with the one word: ready";

/** Tests a connection by requesting one word. Default model: the cheapest known or the first listed one. */
export async function tryConnection(connection: Connection, model: string | null): Promise<Tried> {
  const startTime = performance.now();
  const signal = AbortSignal.timeout(patience_ms);
  const failed = (name: string | null, code: string, message: string): Tried => ({
    ok: false,
    model: name,
    latency_ms: since(startTime),
    output: null,
    usage: null,
    error: { code, message },
  });
  const name = model ?? usualModel(connection) ?? (await firstModel(connection, signal));
  if (name === null)
    return failed(null, "model_not_available", "The server does not list its models. Name one that it has.");
  const modelClient = await openModel(connection, name);
  const request = {
    messages: [{ role: "user" as const, content: question }],
    tools: [],
    settings: { max_output_tokens: 64 },
  };
  let output = "";
  for await (const event of modelClient.stream(request, signal)) {
    if (event.type === "delta" && event.kind === "output") output = (output + event.text).slice(0, outputMax);
    else if (event.type === "error")
      return signal.aborted
        ? failed(name, "model_error", `The provider did not answer within ${patience_ms / 1000} seconds.`)
        : failed(name, event.error.code, event.error.message);
    else if (event.type === "done") {
      const { input_tokens, output_tokens } = event.usage;
      const usage = { input_tokens, output_tokens };
      return { ok: true, model: name, latency_ms: since(startTime), output: output.trim() || null, usage, error: null };
    }
  }
  return failed(name, "model_error", responseIncomplete);
}

const since = (begun: number): number => Math.round(performance.now() - begun);

/** The provider's cheapest known model. Clouds list their models to other credentials, so that they need one here. */
function usualModel({ provider, region }: Connection): string | null {
  if (provider === "bedrock") return `${profilePrefix(region)}amazon.nova-micro-v1:0`;
  if (provider === "vertex") return "gemini-2.5-flash-lite";
  const known = knownModels.filter((each) => each.provider === provider);
  return known.sort((a, b) => a.price.output - b.price.output)[0]?.model ?? null;
}

/** Returns the prefix of the inference profiles near a region of AWS; most regions serve models by them alone. */
function profilePrefix(region = ""): string {
  const [continent = ""] = /^(us|eu|ap)(?=-(?!gov))/.exec(region) ?? [];
  return continent === "ap" ? "apac." : continent && `${continent}.`;
}

/** First model that a self-hosted server lists. */
async function firstModel({ base_url, api_key }: Connection, signal: AbortSignal): Promise<string | null> {
  try {
    const headers = api_key === null ? undefined : { authorization: `Bearer ${api_key}` };
    const response = await modelFetch(`${(base_url ?? ollamaUrl).replace(/\/+$/, "")}/models`, { headers, signal });
    if (!response.ok || Number(response.headers.get("content-length") ?? 0) > listMax_bytes) return null;
    const list = (await response.json()) as { data?: { id?: unknown }[] };
    const id = list.data?.[0]?.id;
    return typeof id === "string" && id !== "" ? id : null;
  } catch {
    return null; // The request with a model's name will report the error.
  }
}
