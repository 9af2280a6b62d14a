import { createParser } from "eventsource-parser";
import { chatAnswer } from "./chat-answer.ts";
import { chatRequest } from "./chat-request.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { modelOf } from "./model-stream.ts";
import { ollamaUrl } from "./ollama.ts";
import type { Connection, Model, ModelEvent, ModelRequest } from "./port.ts";

/**
 * Any server that speaks OpenAI's chat completions: llama.cpp, vLLM, Ollama, gateways. Without an SDK: validating every
 * chunk and piping it through transform streams took two thirds of a token's way through this process.
 */
export function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Model {
  const { api_key, base_url } = connection;
  const url = `${(base_url ?? ollamaUrl).replace(/\/+$/, "")}/chat/completions`;
  const headers = { "content-type": "application/json", ...(api_key && { authorization: `Bearer ${api_key}` }) };
  const secrets = api_key ? [api_key] : [];

  async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const body = JSON.stringify(chatRequest(modelName, request));
    const response = await fetch(url, { method: "POST", headers, body, signal });
    if (!response.ok) throw await refusal(response);
    const chat = chatAnswer(secrets);
    const payloadsOf = payloadReader();
    if (response.headers.get("content-type")?.includes("json")) yield* chat.read([await response.text()]);
    else for await (const bytes of response.body ?? []) yield* chat.read(payloadsOf(bytes));
    yield* chat.end();
  }

  return modelOf(answer, secrets);
}

/** Turns each read from the network into the data of the events that it brought to an end. */
function payloadReader(): (bytes: Uint8Array) => string[] {
  let payloads: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => payloads.push(data) });
  const decoder = new TextDecoder();
  return (bytes) => {
    payloads = [];
    parser.feed(decoder.decode(bytes, { stream: true }));
    return payloads;
  };
}

/** In the shape that `toModelError` judges. */
async function refusal(response: Response): Promise<Error> {
  const facts = {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: await response.text(),
  };
  return Object.assign(new Error(response.statusText), facts);
}
