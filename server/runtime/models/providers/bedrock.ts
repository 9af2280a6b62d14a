import { AwsV4Signer } from "aws4fetch";
import { isCacheable } from "../cache-breakpoints.ts";
import { type LearntRefusals, learntRefusals } from "../learnt-refusals.ts";
import type { AnswerObserver, Connection, Model, ModelEvent, ModelRequest, RequestAdjustment } from "../model.ts";
import { JudgedFailure, unavailableError } from "../model-error.ts";
import { type Fetch, modelFetch } from "../model-fetch.ts";
import { modelOf, type Way } from "../model-stream.ts";
import { withHeaders } from "../request-extras.ts";
import { adjustmentsOf } from "./bedrock-adjustments.ts";
import { readConverse } from "./bedrock-answer.ts";
import { type AwsFault, failureOf, faultOf, refusesCache } from "./bedrock-error.ts";
import { familyOf, isAnthropic } from "./bedrock-families.ts";
import { bodyText, type Claude, converseBody, takesSchema } from "./bedrock-request.ts";

const service = "bedrock";

/** Opens a model of Amazon Bedrock by its id, or an inference profile or its ARN, with the Converse API. */
export async function open(
  connection: Connection,
  modelName: string,
  fetch: Fetch = modelFetch,
  refusals: LearntRefusals = learntRefusals(),
): Promise<Model> {
  const { api_key, access_key_id, secret_access_key, session_token } = connection;
  const secrets = [api_key, access_key_id, secret_access_key, session_token].filter((text) => text != null);
  const family = familyOf(modelName);
  const model = { family, claude: isAnthropic(family) ? await claudeOf(modelName) : null };
  const caches = () => family.cache !== null && !refusals.known.has(cachePoints);

  async function send(request: ModelRequest, { streamed, format }: Way, signal: AbortSignal, observer: AnswerObserver) {
    const url = addressOf(connection, modelName, streamed);
    const own = converseBody(model, request, format, caches());
    const body = bodyText(own, request);
    const headers = await signed(connection, url, body, request.extras?.headers);
    const lacksCache = !caches() && family.cache !== null && isCacheable(request);
    observer.onAdjustments?.([...adjustmentsOf(request, own), ...(lacksCache ? [cacheRefusal] : [])]);
    return fetch(url, { method: "POST", headers, body, signal });
  }

  async function answer(
    request: ModelRequest,
    signal: AbortSignal,
    way: Way,
    observer: AnswerObserver,
  ): Promise<AsyncIterable<ModelEvent>> {
    if (request.output_schema && way.format === "schema" && !takesSchema(model)) throw failureOf(schemaFault);
    let response = await send(request, way, signal, observer);
    if (!response.ok) {
      const fault = await faultOf(response);
      if (!caches() || !refusesCache(fault)) throw failureOf(fault);
      refusals.known.add(cachePoints);
      response = await send(request, way, signal, observer);
      if (!response.ok) throw failureOf(await faultOf(response));
      refusals.confirm([cachePoints]);
    }
    observer.onByte();
    const hidden = [...secrets, ...(request.extras?.secrets ?? [])];
    const tools = request.tools.map(({ name }) => name);
    return readConverse(response, { family, secrets: hidden, observer, tools, extras: request.extras });
  }

  return modelOf(answer, secrets);
}

/** Name of the refusal among those that are learnt. */
const cachePoints = "cache_points";

const cacheRefusal: RequestAdjustment = {
  field: "prompt_caching",
  message: "The model refused cache points, so the prompt was sent without them.",
};

/** Fault of a schema for a model that has none: the prompt has it then, and no request is wasted. */
const schemaFault: AwsFault = {
  type: "ValidationException",
  message: "This model takes no outputConfig.",
  status: 400,
  headers: {},
};

/** Loads the abilities of one of Anthropic's models. */
async function claudeOf(modelName: string): Promise<Claude> {
  const { getModelCapabilities, sanitizeJsonSchema } = await import("@ai-sdk/anthropic/internal");
  const abilities = getModelCapabilities(modelName);
  return {
    outputMax: abilities.isKnownModel ? abilities.maxOutputTokens : Number.POSITIVE_INFINITY,
    isAdaptive: abilities.supportsAdaptiveThinking,
    takesSchema: abilities.supportsStructuredOutput,
    refusesSampling: abilities.rejectsSamplingParameters,
    refusesForcedTool: abilities.rejectsForcedToolUse,
    mustThink: abilities.rejectsThinkingDisabled,
    mendSchema: (schema) => sanitizeJsonSchema(schema) as object,
  };
}

function addressOf({ base_url, region }: Connection, modelName: string, streamed: boolean): string {
  if (region === undefined) throw new JudgedFailure(unavailableError("Amazon Bedrock needs a region: set AWS_REGION."));
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const root = (base_url ?? `https://bedrock-runtime.${region}.${domain}`).replace(/\/+$/, "");
  return `${root}/model/${encodeURIComponent(modelName)}/${streamed ? "converse-stream" : "converse"}`;
}

/** Returns the headers of a request, with an API key or a signature (Signature Version 4) of the request. */
async function signed(connection: Connection, url: string, body: string, more: Record<string, string> = {}) {
  const { api_key, access_key_id, secret_access_key, session_token, region } = connection;
  const headers = withHeaders({ "content-type": "application/json" }, more);
  if (api_key !== null) headers.set("authorization", `Bearer ${api_key}`);
  if (api_key !== null || access_key_id === undefined || secret_access_key === undefined) return headers;
  const signer = new AwsV4Signer({
    url,
    method: "POST",
    headers,
    body,
    service,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    ...(session_token !== undefined && { sessionToken: session_token }),
    ...(region !== undefined && { region }),
  });
  return (await signer.sign()).headers;
}
