import { createParser } from "eventsource-parser";
import { parsedJson } from "../lib/json.ts";
import { readOut } from "../lib/read-out.ts";
import { textOf } from "./body-text.ts";
import { chatAnswer } from "./chat-answer.ts";
import { chatRequest } from "./chat-request.ts";
import { isNetwork, NoOllama, onceBegun } from "./model-error.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { modelOf, type Way } from "./model-stream.ts";
import { ollamaUrl } from "./ollama.ts";
import type { AnswerObserver, Connection, Model, ModelEvent, ModelRequest } from "./port.ts";

const answerMax_bytes = 8 * 1024 * 1024;
const refusalMax_bytes = 64 * 1024;

/**
 * Any server that speaks OpenAI's chat completions: llama.cpp, vLLM, Ollama, gateways. Without an SDK: validating every
 * chunk and piping it through transform streams took two thirds of a token's way through this process.
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
      // One by one: to delegate to what is at hand costs a token several promises.
      if (response.headers.get("content-type")?.startsWith("application/json"))
        for (const event of chat.read([await textOf(response, answerMax_bytes, observer.onByte)])) yield event;
      else
        for await (const payloads of payloadsOf(response, observer.onByte)) {
          for (const event of chat.read(payloads)) yield event;
          if (chat.isOver()) break; // Some servers keep the connection open behind the end.
        }
      if (chat.isOver()) void readOut(response); // Others end it a moment later: the next call can have it.
      for (const event of chat.end()) yield event;
    } catch (failure) {
      throw onceBegun(failure);
    }
  }

  return modelOf(answer, secrets);
}

/** The data of the events that each read from the network brought to an end; at the end, what only lacks its blank line. */
async function* payloadsOf({ body }: Response, onByte: () => void): AsyncGenerator<string[]> {
  let payloads: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => payloads.push(data),
    maxBufferSize: answerMax_bytes, // Else a server that sends no line's end fills the memory.
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of body?.values({ preventCancel: true }) ?? []) {
    onByte(); // A comment keeps the connection alive too, and is no event.
    payloads = [];
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (payloads.length > 0) yield payloads;
  }
  payloads = [];
  parser.feed(`${decoder.decode()}\n\n`);
  yield payloads.filter(isWhole);
}

/** What the end of the connection cut is left out: the answer is incomplete then, and not unreadable. */
const isWhole = (payload: string): boolean => payload === "[DONE]" || parsedJson(payload) !== undefined;

/** In the shape that `toModelError` judges. */
async function refusal(response: Response): Promise<Error> {
  const facts = {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: await textOf(response, refusalMax_bytes),
  };
  return Object.assign(new Error(response.statusText), facts);
}
