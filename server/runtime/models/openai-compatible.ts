import { textOf } from "./body-text.ts";
import { readChatAnswer } from "./chat-answer.ts";
import { withChatCache } from "./chat-cache.ts";
import { chatRequest } from "./chat-request.ts";
import type { AnswerObserver, Connection, Model, ModelEvent, ModelRequest } from "./model.ts";
import { isNetwork, NoOllama } from "./model-error.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { modelOf, type Way } from "./model-stream.ts";
import { ollamaUrl } from "./ollama.ts";

const refusalMax_bytes = 64 * 1024;

/**
 * Opens any server with OpenAI's chat completions: llama.cpp, vLLM, Ollama, gateways. Uses no SDK: its validation and
 * transform streams took two thirds of the time per token.
 */
export function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Model {
  const { api_key, base_url } = connection;
  const url = `${(base_url ?? ollamaUrl).replace(/\/+$/, "")}/chat/completions`;
  const headers = { "content-type": "application/json", ...(api_key && { authorization: `Bearer ${api_key}` }) };
  const secrets = api_key ? [api_key] : [];

  async function answer(
    request: ModelRequest,
    signal: AbortSignal,
    way: Way,
    observer: AnswerObserver,
  ): Promise<AsyncIterable<ModelEvent>> {
    const body = JSON.stringify(withChatCache(chatRequest(modelName, request, way), request, connection, modelName));
    const response = await fetch(url, { method: "POST", headers, body, signal }).catch((failure) => {
      throw connection.provider === "ollama" && isNetwork(failure) ? new NoOllama(url) : failure;
    });
    if (!response.ok) throw await refusal(response);
    observer.onByte();
    return readChatAnswer(response, secrets, observer);
  }

  return modelOf(answer, secrets);
}

/** Returns an error in the format that `toModelError` expects. */
async function refusal(response: Response): Promise<Error> {
  const facts = {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: await textOf(response, refusalMax_bytes),
  };
  return Object.assign(new Error(response.statusText), facts);
}
