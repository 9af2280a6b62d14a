import type { LanguageModelV4 } from "@ai-sdk/provider";
import { fieldsOf, parsedJson } from "../../../lib/json.ts";
import { anthropicDialect } from "../anthropic.ts";
import { textOf } from "../body-text.ts";
import { googleDialect } from "../google.ts";
import {
  type AnswerObserver,
  type Connection,
  type Model,
  type ModelEvent,
  type ModelRequest,
  unknownUsage,
} from "../model.ts";
import { abortedError, JudgedFailure, toModelError, unavailableError } from "../model-error.ts";
import { type Fetch, modelFetch, sdkFetch } from "../model-fetch.ts";
import { modelOf } from "../model-stream.ts";
import { open as openCompatible } from "../openai-compatible.ts";
import { providerModel } from "../provider-model.ts";
import { type TokenSource, tokenSourceFor } from "./google-token.ts";
import { readServiceAccount, type ServiceAccount } from "./service-account.ts";

const refusalMax_bytes = 64 * 1024;

/**
 * Opens a model of Google Vertex AI: Gemini, Claude (`claude-…`), a tuned model (`endpoints/…`), or a model that Vertex
 * serves with OpenAI's chat completions (`meta/…`).
 */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { api_key, service_account, base_url } = connection;
  if (service_account === undefined) {
    const secrets = api_key === null ? [] : [api_key];
    const keyed = withHeaders(fetch, { "x-goog-api-key": api_key ?? "" });
    return openWith({ connection, modelName, project: null, fetch: explained(keyed), secrets, bearer: null });
  }
  const account = readServiceAccount(service_account, base_url);
  if ("message" in account) {
    const failure = new JudgedFailure(unavailableError(account.message));
    return modelOf(() => Promise.reject(failure), []);
  }
  return openWithTokens(connection, modelName, account, fetch);
}

interface Opening {
  connection: Connection;
  modelName: string;
  /** Path of the project and location; null: the key implies them. */
  project: string | null;
  fetch: Fetch;
  secrets: string[];
  /** Access token; null: the requests carry a key. */
  bearer: string | null;
}

async function openWith(opening: Opening): Promise<Model> {
  const { connection, modelName, project, fetch, secrets } = opening;
  const { kind, name } = kindOf(modelName);
  if (kind === "chat") {
    const base_url = `${rootOf(connection, "v1beta1")}/${project ?? ""}/endpoints/openapi`;
    return openCompatible({ ...connection, base_url, api_key: opening.bearer }, name, fetch);
  }
  if (kind === "claude") {
    const models = `${rootOf(connection, "v1")}${withSlash(project)}/publishers/anthropic/models`;
    return providerModel(await claude(models, name, fetch), {
      ...(await anthropicDialect(name, secrets)),
      provider: "vertex",
    });
  }
  const publisher = kind === "tuned" ? "" : "/publishers/google";
  const baseURL = `${rootOf(connection, "v1beta1")}${withSlash(project)}${publisher}`;
  const { createGoogle } = await import("@ai-sdk/google");
  // The name tells the SDK that calls have no ids here. Its key's header is replaced by ours.
  const provider = createGoogle({ name: "google.vertex.chat", baseURL, apiKey: "", fetch: sdkFetch(fetch) });
  return providerModel(provider.languageModel(name), { ...googleDialect(name, secrets), provider: "vertex" });
}

/** Opens Claude, whose requests name the model in the path and the API's version in the body. */
async function claude(models: string, name: string, fetch: Fetch): Promise<LanguageModelV4> {
  const { AnthropicLanguageModel } = await import("@ai-sdk/anthropic/internal");
  return new AnthropicLanguageModel(name, {
    provider: "anthropic.vertex.messages",
    baseURL: models,
    headers: {},
    fetch: sdkFetch(fetch),
    buildRequestUrl: (baseURL, isStreamed) => `${baseURL}/${name}:${isStreamed ? "streamRawPredict" : "rawPredict"}`,
    transformRequestBody({ model: _, ...body }) {
      return { ...body, anthropic_version: "vertex-2023-10-16" };
    },
    supportedUrls: () => ({}),
    supportsNativeStructuredOutput: false, // Most organizations' policies forbid it, and a refusal fails the call.
    supportsStrictTools: false,
  });
}

type Kind = "gemini" | "claude" | "tuned" | "chat";

function kindOf(modelName: string): { kind: Kind; name: string } {
  const name = modelName.replace(/^(publishers\/)?(google|anthropic)\/(models\/)?/, "");
  if (name.startsWith("claude-")) return { kind: "claude", name };
  if (name.startsWith("endpoints/")) return { kind: "tuned", name };
  return { kind: name.includes("/") && !name.startsWith("models/") ? "chat" : "gemini", name };
}

/** Returns the address of the API with its version; an address of the operator may have a version of its own. */
function rootOf({ base_url, location = "global" }: Connection, version: string): string {
  if (base_url === null) return `https://${hostOf(location)}/${version}`;
  const root = base_url.replace(/\/+$/, "");
  return new URL(root).pathname === "/" ? `${root}/${version}` : root;
}

function hostOf(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  const isContinent = location === "us" || location === "eu";
  return isContinent ? `aiplatform.${location}.rep.googleapis.com` : `${location}-aiplatform.googleapis.com`;
}

const withSlash = (path: string | null): string => (path === null ? "" : `/${path}`);

/** Opens a model whose calls carry an access token. Each token has a model of its own, which hides it in answers. */
function openWithTokens(connection: Connection, modelName: string, account: ServiceAccount, fetch: Fetch): Model {
  const tokens = tokenSourceFor(account, fetch);
  const project = `projects/${connection.project ?? account.project_id}/locations/${connection.location ?? "global"}`;
  let opened: { token: string; model: Promise<Model> } | null = null;

  function modelFor(token: string): Promise<Model> {
    if (opened?.token === token) return opened.model;
    const secrets = [token];
    const authorized = explained(withToken(fetch, token, { tokens, secrets }));
    const opening = { connection, modelName, project, fetch: authorized, secrets, bearer: token };
    opened = { token, model: openWith(opening) };
    return opened.model;
  }

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer?: AnswerObserver,
  ): AsyncGenerator<ModelEvent> {
    let model: Model;
    try {
      signal.throwIfAborted();
      model = await modelFor(await tokens.get(signal));
    } catch (failure) {
      const error = signal.aborted ? abortedError : { ...toModelError(failure, []), request: "not_sent" as const };
      yield { type: "error", error, usage: unknownUsage };
      return;
    }
    for await (const event of model.stream(request, signal, observer)) yield event;
  }

  return { stream };
}

function withHeaders(fetch: Fetch, headers: Record<string, string>): Fetch {
  const send = (url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]) => {
    const all = new Headers(init?.headers);
    all.delete("x-goog-api-key");
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(url, { ...init, headers: all });
  };
  return Object.assign(send, { preconnect: fetch.preconnect });
}

/** Sends requests with a token, and once more with a new one if Google has revoked it before its end. */
function withToken(
  fetch: Fetch,
  token: string,
  { tokens, secrets }: { tokens: TokenSource; secrets: string[] },
): Fetch {
  const bearer = (value: string) => withHeaders(fetch, { authorization: `Bearer ${value}` });
  const send = async (...[url, init]: Parameters<Fetch>): Promise<Response> => {
    const response = await bearer(token)(url, init);
    if (response.status !== 401) return response;
    tokens.forget(token);
    const fresh = await tokens.get(init?.signal ?? new AbortController().signal);
    if (fresh === token) return response;
    await response.body?.cancel();
    secrets.push(fresh); // No answer and no error may have it.
    return bearer(fresh)(url, init);
  };
  return Object.assign(send, { preconnect: fetch.preconnect });
}

/** Tells why Google refuses a call: the API is not enabled, or the account lacks a role. */
function explained(fetch: Fetch): Fetch {
  const send = async (...request: Parameters<Fetch>): Promise<Response> => {
    const response = await fetch(...request);
    if (response.status !== 403) return response;
    const body = parsedJson(await textOf(response, refusalMax_bytes));
    const { message } = fieldsOf(fieldsOf(Array.isArray(body) ? body[0] : body).error);
    const reason = typeof message === "string" ? `: ${message}` : "";
    throw new JudgedFailure(unavailableError(`Google refused the call (HTTP 403)${reason}`));
  };
  return Object.assign(send, { preconnect: fetch.preconnect });
}
