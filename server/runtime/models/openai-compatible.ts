import { createParser } from "eventsource-parser";
import { drainBody } from "../../lib/drain-body.ts";
import { parsedJson } from "../../lib/json.ts";
import { textOf } from "./body-text.ts";
import { chatAnswer } from "./chat-answer.ts";
import { chatRequest } from "./chat-request.ts";
import type { AnswerObserver, Connection, Model, ModelEvent, ModelRequest } from "./model.ts";
import { isNetwork, NoOllama, onceBegun } from "./model-error.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { modelOf, type Way } from "./model-stream.ts";
import { ollamaUrl } from "./ollama.ts";

const answerMax_bytes = 8 * 1024 * 1024;
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

  async function* answer(
    request: ModelRequest,
    signal: AbortSignal,
    way: Way,
    observer: AnswerObserver,
  ): AsyncGenerator<ModelEvent> {
    const body = JSON.stringify(chatRequest(modelName, request, way));
    const response = await fetch(url, { method: "POST", headers, body, signal }).catch((failure) => {
      throw connection.provider === "ollama" && isNetwork(failure) ? new NoOllama(url) : failure;
    });
    if (!response.ok) throw await refusal(response);
    observer.onByte();
    const chat = chatAnswer(secrets, observer);
    try {
      // Not `yield*`, which costs several promises per token.
      if (response.headers.get("content-type")?.startsWith("application/json"))
        for (const event of chat.read([await textOf(response, answerMax_bytes, observer.onByte)])) yield event;
      else
        for await (const payloads of payloadsOf(response, observer.onByte)) {
          for (const event of chat.read(payloads)) yield event;
          if (chat.isOver()) break; // Some servers keep the connection open after the end.
        }
      if (chat.isOver()) void drainBody(response); // Others close it a moment later: the next call can reuse it.
      for (const event of chat.end()) yield event;
    } catch (failure) {
      throw onceBegun(failure);
    }
  }

  return modelOf(answer, secrets);
}

/**
 * Yields the data of the events that each network read completes; at the end also an event that only lacks its blank
 * line.
 */
async function* payloadsOf({ body }: Response, onByte: () => void): AsyncGenerator<string[]> {
  let payloads: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => payloads.push(data),
    maxBufferSize: answerMax_bytes, // Otherwise a server that sends no line break fills the memory.
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of body?.values({ preventCancel: true }) ?? []) {
    onByte(); // Comments keep the connection alive too, and are not events.
    payloads = [];
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (payloads.length > 0) yield payloads;
  }
  payloads = [];
  parser.feed(`${decoder.decode()}\n\n`);
  yield payloads.filter(isWhole);
}

/** False for an event cut by the end of the connection: the answer is then incomplete, not unreadable. */
const isWhole = (payload: string): boolean => payload === "[DONE]" || parsedJson(payload) !== undefined;

/** Returns an error in the format that `toModelError` expects. */
async function refusal(response: Response): Promise<Error> {
  const facts = {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: await textOf(response, refusalMax_bytes),
  };
  return Object.assign(new Error(response.statusText), facts);
}
