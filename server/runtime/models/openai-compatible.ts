import { wellFormedJson } from "../../lib/well-formed-json.ts";
import { eitherAddress } from "./base-address.ts";
import { textOf } from "./body-text.ts";
import { addressesOf } from "./chat-address.ts";
import { adjustmentsOf } from "./chat-adjustments.ts";
import { readChatAnswer } from "./chat-answer.ts";
import { withChatCache } from "./chat-cache.ts";
import { type Adaptation, adapted, isAdaptation, keyHeader } from "./chat-dialect.ts";
import { adaptationsFor } from "./chat-refusal.ts";
import { chatRequest } from "./chat-request.ts";
import { type LearntRefusals, learntRefusals, refusalsOfFields } from "./learnt-refusals.ts";
import type { Connection, Model } from "./model.ts";
import { isNetwork, NoOllama } from "./model-error.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { type Answer, modelOf } from "./model-stream.ts";
import { ollamaUrl } from "./ollama.ts";
import { dialectOf } from "./providers/dialects.ts";
import { withFields, withHeaders } from "./request-extras.ts";

const refusalMax_bytes = 64 * 1024;

// Number of times that a refused request is sent again in another form.
const roundsMax = 2;

/**
 * Opens any server with OpenAI's chat completions: llama.cpp, vLLM, Ollama, gateways, and the providers that speak it.
 * Uses no SDK: its validation and transform streams took two thirds of the time per token.
 */
export function open(
  connection: Connection,
  modelName: string,
  fetch: Fetch = modelFetch,
  refusals: LearntRefusals = learntRefusals(),
): Model {
  const secrets = connection.api_key ? [connection.api_key] : [];
  return modelOf(chatAnswers(connection, modelName, fetch, refusals), secrets, dialectOf(connection).format);
}

/**
 * Returns the calls of one model. What its server refuses is learnt from its answers: the address, which is kept as
 * long as the model is open, and the parts of requests that are left out or said in another form.
 */
export function chatAnswers(
  connection: Connection,
  modelName: string,
  fetch: Fetch,
  refusals: LearntRefusals = learntRefusals(),
): Answer {
  const { api_key, base_url } = connection;
  const plain = dialectOf(connection);
  const addresses = addressesOf(base_url ?? plain.base_url ?? ollamaUrl, path, plain, modelName);
  const sendToEither = eitherAddress(addresses.first, base_url === null ? null : addresses.other);
  const headers = { "content-type": "application/json", ...keyHeader(plain, api_key) };
  const secrets = api_key ? [api_key] : [];

  const ofFields = refusalsOfFields();

  return async (request, signal, way, observer) => {
    const { extras } = request;
    const learnt = extras ? ofFields(extras) : refusals.known;
    for (let round = 0; ; round++) {
      // A copy, because other calls of this model learn at the same time. A newer version may have learnt more.
      const used = adaptationsOf(refusals.known, learnt);
      const dialect = used.size === 0 ? plain : adapted(plain, used);
      const own = withChatCache(chatRequest(modelName, request, way, dialect), request, connection, modelName);
      const body = extras ? (withFields(withFields(own, extras.body), extras.options) as typeof own) : own;
      const sent = wellFormedJson(JSON.stringify(body));
      const response = await sendToEither((url) =>
        fetch(url, {
          method: "POST",
          headers: extras ? withHeaders(headers, extras.headers) : headers,
          body: sent,
          signal,
        }).catch((failure) => {
          throw connection.provider === "ollama" && isNetwork(failure) ? new NoOllama(url) : failure;
        }),
      );
      observer.onAdjustments?.(adjustmentsOf(request, modelName, dialect, used));
      if (response.ok) {
        observer.onByte();
        if (round > 0 && !extras) refusals.confirm(used);
        const all = extras ? [...secrets, ...extras.secrets] : secrets;
        const tools = request.tools.map(({ name }) => name);
        return readChatAnswer(response, { secrets: all, observer, tools, extras });
      }
      const refused = await refusal(response);
      const wanted = adaptationsFor(response.status, refused.responseBody, body).filter(
        (each) => !used.has(each) && each !== plain.limit, // A limit that was renamed is not renamed back.
      );
      if (wanted.length === 0 || round === roundsMax) throw refused;
      for (const each of wanted) learnt.add(each);
    }
  };
}

const nothing: ReadonlySet<Adaptation> = new Set();

/** Returns the adaptations to what is known to be refused. Nearly every server refuses nothing. */
function adaptationsOf(known: ReadonlySet<string>, learnt: ReadonlySet<string>): ReadonlySet<Adaptation> {
  if (known.size === 0 && learnt.size === 0) return nothing;
  return new Set([...known, ...learnt].filter(isAdaptation));
}

const path = "/chat/completions";

/** Returns an error in the format that `toModelError` expects. */
async function refusal(response: Response) {
  const facts = {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: await textOf(response, refusalMax_bytes),
  };
  return Object.assign(new Error(response.statusText), facts);
}
