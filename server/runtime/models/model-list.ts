import type { ListError, ListedModel } from "../../domain/listed-model.ts";
import { providerAddresses } from "../../domain/provider-addresses.ts";
import { fieldsOf, roundedJson } from "../../lib/json.ts";
import { keyHeader } from "./chat-dialect.ts";
import { readListedModel, rowsOf } from "./listed-model.ts";
import type { Connection } from "./model.ts";
import { JudgedFailure, toModelError } from "./model-error.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { dialectOf } from "./providers/dialects.ts";

/** How a provider lists its models. A new provider needs an entry in `sources` only if it differs from OpenAI's list. */
interface ListSource {
  /** Addresses in the order in which they are tried: the next one if the server has no list at the one before. */
  addresses(base: URL): URL[];
  /** Headers with the key; absent: those of the provider's chat completions. */
  headers?(apiKey: string): Record<string, string>;
  /** Parameters of the first page. */
  query?: Record<string, string>;
  /** Returns the parameters of the page after this one, or null if it is the last. */
  next?(page: Record<string, unknown>): Record<string, string> | null;
  /** Changes a row before it is read. */
  row?(row: Record<string, unknown>): Record<string, unknown>;
  /** Adds what the server says about its models at other addresses. May throw: the list stays as it is. */
  details?(models: ListedModel[], rows: readonly unknown[], read: ReadJson, base: URL): Promise<ListedModel[]>;
}

type ReadJson = (url: URL) => Promise<unknown>;

type ListOutcome = { models: ListedModel[]; error: null } | { models: null; error: ListError };

// OpenRouter's list of 500 models has 1.5 MB.
const pageMax_bytes = 4 * 1024 * 1024;
const pagesMax = 20;
const modelsMax = 5000;
const patience_ms = 10_000;
const detailMax_bytes = 64 * 1024;

interface ListOptions {
  signal?: AbortSignal;
  fetch?: Fetch;
  timeout_ms?: number;
  now?: () => number;
}

/** Reads the models that a connection's server lists, bounded in size and time. Never throws. */
export async function listModels(
  connection: Connection,
  { signal, fetch = modelFetch, timeout_ms = patience_ms, now = Date.now }: ListOptions = {},
): Promise<ListOutcome> {
  const base = URL.parse(connection.base_url ?? providerAddresses[connection.provider] ?? "");
  const source = sources[connection.provider] ?? compatible;
  // Clouds list their models at other addresses, and to other credentials.
  const isCloud = connection.provider === "bedrock" || connection.provider === "vertex";
  if (!base || isCloud) return failed({ code: "not_listed", message: notListed, detail: null });
  const timeout = AbortSignal.timeout(timeout_ms);
  const readSignal = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const headers = { accept: "application/json", ...keyHeaders(connection, source) };
  const secrets = connection.api_key ? [connection.api_key] : [];
  const read: ReadJson = (url) => readJson(fetch, url, { headers, signal: readSignal }, secrets);
  try {
    const rows = await readPages(source, base, read);
    const found = uniqueModels(rows, source, now());
    const models = (await source.details?.(found, rows, read, base).catch(() => null)) ?? found;
    return { models: models.sort(inOrder), error: null };
  } catch (failure) {
    if (failure instanceof ListFailure) return failed(failure.error);
    if (failure instanceof JudgedFailure) {
      const { message, retryable } = failure.verdict;
      return failed({ code: retryable ? "unreachable" : "key_refused", message, detail: null });
    }
    if (timeout.aborted) return failed({ code: "timeout", message: silent(timeout_ms), detail: null });
    return failed({ code: "unreachable", message: "The server cannot be reached.", detail: null });
  }
}

function keyHeaders(connection: Connection, { headers }: ListSource): Record<string, string> {
  const { api_key } = connection;
  return api_key && headers ? headers(api_key) : keyHeader(dialectOf(connection), api_key);
}

const failed = (error: ListError): ListOutcome => ({ models: null, error });
const silent = (ms: number): string => `The server did not send its list within ${ms / 1000} seconds.`;
const notListed = "The server does not list its models.";

/** A failure with a reason for people. */
class ListFailure extends Error {
  override readonly name = "ListFailure";
  readonly error: ListError;
  /** True if the list may be at another address. */
  readonly isElsewhere: boolean;
  constructor(error: ListError, isElsewhere = false) {
    super(error.message);
    this.error = error;
    this.isElsewhere = isElsewhere;
  }
}

const fail = (code: ListError["code"], message: string, detail: string | null = null, isElsewhere = false) =>
  new ListFailure({ code, message, detail }, isElsewhere);

/** Reads all pages from the first address that has a list. Throws the failure of the first address if none has. */
async function readPages(source: ListSource, base: URL, read: ReadJson): Promise<unknown[]> {
  let first: ListFailure | null = null;
  for (const address of source.addresses(base)) {
    try {
      return await readPagesAt(source, address, read);
    } catch (failure) {
      if (!(failure instanceof ListFailure)) throw first ?? failure;
      if (!failure.isElsewhere) throw failure;
      first ??= failure;
    }
  }
  throw first ?? fail("not_listed", notListed);
}

async function readPagesAt({ query = {}, next }: ListSource, address: URL, read: ReadJson): Promise<unknown[]> {
  const rows: unknown[] = [];
  const seen = new Set<string>();
  for (let wanted: Record<string, string> | null = query, page = 0; wanted && page < pagesMax; page++) {
    const url = withQuery(address, wanted);
    // A server that returns the same page again would never end.
    if (seen.has(url.href)) break;
    seen.add(url.href);
    const body = await read(url);
    const found = rowsOf(body);
    if (!found) throw fail("not_a_list", "The server's response is not a list of models.", null, page === 0);
    rows.push(...found.slice(0, modelsMax - rows.length));
    wanted = rows.length < modelsMax ? (next?.(fieldsOf(body)) ?? null) : null;
  }
  return rows;
}

function withQuery(address: URL, query: Record<string, string>): URL {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

function uniqueModels(rows: readonly unknown[], { row = (each) => each }: ListSource, now: number): ListedModel[] {
  const byId = new Map<string, ListedModel>();
  for (const each of rows) {
    const model = readListedModel(typeof each === "string" ? each : row(fieldsOf(each)), now);
    if (model && !byId.has(model.id)) byId.set(model.id, model);
  }
  return [...byId.values()];
}

/** Models in use first, by name. */
const inOrder = (a: ListedModel, b: ListedModel): number =>
  Number(a.is_deprecated) - Number(b.is_deprecated) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Sends a request and parses the response. Throws `ListFailure`. */
async function readJson(
  fetch: Fetch,
  url: URL,
  init: { headers: Record<string, string>; signal: AbortSignal },
  secrets: readonly string[],
): Promise<unknown> {
  const response = await fetch(url.href, init);
  if (!response.ok) throw await refusal(response, secrets);
  const text = await readText(response, pageMax_bytes);
  if (text === null) throw fail("too_large", `The server's list is longer than ${pageMax_bytes / 1024 / 1024} MB.`);
  const body = roundedJson(text);
  if (body === undefined || body === null) {
    const isPage = /^\s*</.test(text);
    const message = isPage
      ? "The server answers with a web page instead of a list of models. Check the address: it usually ends with /v1."
      : "The server's response is not JSON.";
    throw fail("not_a_list", message, null, true);
  }
  const { error } = fieldsOf(body);
  if (error) throw fail("refused", "The server refuses to list its models.", wordsOf(200, text, {}, secrets));
  return body;
}

async function refusal(response: Response, secrets: readonly string[]): Promise<ListFailure> {
  const { status } = response;
  const text = (await readText(response, detailMax_bytes).catch(() => null)) ?? "";
  const detail = status === 401 || /^\s*</.test(text) ? null : wordsOf(status, text, response.headers, secrets);
  if (status === 401) return fail("key_refused", "The server refuses the key of this connection (HTTP 401).", detail);
  if (status === 403)
    return fail(
      "refused",
      "The server does not let this key list its models (HTTP 403). It may still call them.",
      detail,
    );
  if (status === 404 || status === 405 || status === 501)
    return fail("not_listed", `${notListed.slice(0, -1)} (HTTP ${status}). Type the name of a model.`, detail, true);
  if (status >= 300 && status < 400)
    return fail("refused", `The server redirects its list to another address (HTTP ${status}): enter that one.`);
  if (status === 429) return fail("refused", "The server's rate limit was reached (HTTP 429).", detail);
  return fail("refused", `The server returned HTTP ${status} for its list of models.`, detail);
}

/** Returns the server's own words, without secrets. */
function wordsOf(status: number, text: string, headers: object, secrets: readonly string[]): string {
  const failure = { statusCode: Math.max(status, 300), responseHeaders: headers, responseBody: text };
  return toModelError(Object.assign(new Error(""), failure), secrets).message;
}

/** Returns the body's text, or null if it is longer. */
async function readText({ body }: Response, max_bytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let left = max_bytes;
  for await (const chunk of body ?? []) {
    left -= chunk.length;
    if (left < 0) return null; // Leaving the loop cancels the body.
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Returns an address with another path; its query stays, which some gateways need (`?api-version=`). */
function withPath(base: URL, change: (path: string) => string): URL {
  const url = new URL(base);
  url.pathname = change(base.pathname.replace(/\/+$/, ""));
  return url;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const hasVersion = (path: string): boolean => /\/v\d+[a-z0-9]*$/i.test(path);

/** OpenAI's list, at the address itself and with `/v1` added or removed: people write it in both ways. */
const compatible: ListSource = {
  addresses: (base) => [
    withPath(base, (path) => `${path}/models`),
    withPath(base, (path) =>
      hasVersion(path) ? `${path.replace(/\/v\d+[a-z0-9]*$/i, "")}/models` : `${path}/v1/models`,
    ),
  ],
  details: ownServerDetails,
};

/** The providers' own lists; all others have OpenAI's. */
const sources: Partial<Record<string, ListSource>> = {
  openai: { ...compatible, addresses: (base) => [withPath(base, (path) => `${path}/models`)], details: undefined },
  anthropic: {
    addresses: (base) => [
      withPath(base, (path) => (hasVersion(path) ? `${path}/models` : `${path}/v1/models`)),
      withPath(base, (path) => `${path}/models`),
    ],
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    query: { limit: "1000" },
    next: ({ has_more, last_id }) =>
      has_more === true && typeof last_id === "string" ? { limit: "1000", after_id: last_id } : null,
  },
  google: {
    addresses: (base) => [withPath(base, (path) => `${path}/models`)],
    headers: (key) => ({ "x-goog-api-key": key }),
    query: { pageSize: "1000" },
    next: ({ nextPageToken }) =>
      typeof nextPageToken === "string" && nextPageToken !== "" ? { pageSize: "1000", pageToken: nextPageToken } : null,
    row: (row) => (typeof row.name === "string" ? { ...row, id: row.name.replace(/^models\//, "") } : row),
  },
  ollama: {
    addresses: (base) => [
      withPath(base, (path) => `${path.replace(/\/v1$/, "")}/api/tags`),
      withPath(base, (path) => (hasVersion(path) ? `${path}/models` : `${path}/v1/models`)),
    ],
    headers: bearer,
    // `model` has the tag also where `name` is shortened.
    row: (row) => (typeof row.model === "string" ? { ...row, id: row.model } : row),
  },
};

/** LM Studio and llama.cpp say at addresses of their own how long a prompt of the loaded model may be. */
async function ownServerDetails(models: ListedModel[], rows: readonly unknown[], read: ReadJson, base: URL) {
  const owners = rows.map((row) => fieldsOf(row).owned_by);
  const root = withPath(base, (path) => path.replace(/\/v\d+[a-z0-9]*$/i, ""));
  if (owners.length > 0 && owners.every((owner) => owner === "organization_owner"))
    return lmStudioDetails(models, await read(withPath(root, (path) => `${path}/api/v1/models`)));
  const [model] = models;
  if (models.length === 1 && model && owners[0] === "llamacpp" && model.context_window === null) {
    const settings = fieldsOf(
      fieldsOf(await read(withPath(root, (path) => `${path}/props`))).default_generation_settings,
    );
    return [{ ...model, context_window: Number.isSafeInteger(settings.n_ctx) ? Number(settings.n_ctx) : null }];
  }
  return models;
}

/** A loaded model has the window with which it was loaded, which is often shorter than the model's own. */
function lmStudioDetails(models: ListedModel[], body: unknown): ListedModel[] {
  const byId = new Map((rowsOf(body) ?? []).map((row) => [fieldsOf(row).key, fieldsOf(row)]));
  return models.map((model) => {
    const row = byId.get(model.id);
    if (!row) return model;
    const [instance] = Array.isArray(row.loaded_instances) ? row.loaded_instances : [];
    const loaded = fieldsOf(fieldsOf(instance).config).context_length;
    const window = loaded ?? row.max_context_length;
    return {
      ...model,
      kind: row.type === "embedding" || row.type === "embeddings" ? "embedding" : model.kind,
      context_window: Number.isSafeInteger(window) ? Number(window) : model.context_window,
    };
  });
}
