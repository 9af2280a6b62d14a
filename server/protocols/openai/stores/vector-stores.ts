import { isDeepStrictEqual } from "node:util";
import type { FileChunk } from "../../../domain/api-types/file.ts";
import type { Memory, MemoryEntry, MemoryMatch } from "../../../domain/api-types/memory.ts";
import type { List } from "../../../domain/api-types/schema.ts";
import { noSuch } from "../../../domain/error-messages.ts";
import { isRefusal } from "../../../domain/errors.ts";
import { isId, newId, prefixes } from "../../../domain/ids.ts";
import { notFound, throwNotFound } from "../../../domain/not-found.ts";
import { invalid } from "../../../http/errors.ts";
import { readJsonBody } from "../../../http/json-body.ts";
import type { EntryStore } from "../../../resources/memory/entries.ts";
import { scopeIdOf } from "../../../resources/memory/store.ts";
import { type ApiCalls, json, readerOf } from "../api-calls.ts";
import { filterOf } from "./filters.ts";
import { idIn, listOf, listQuery, seconds, wordIn } from "./lists.ts";
import { AddFile, AddFiles, type Chunking, CreateStore, SearchStore, UpdateStore } from "./schema.ts";

const readStore = readerOf(CreateStore);
const readUpdate = readerOf(UpdateStore);
const readFile = readerOf(AddFile);
const readFiles = readerOf(AddFiles);
const readSearch = readerOf(SearchStore);

interface Deps extends ApiCalls {
  entries: EntryStore;
}

interface Found {
  store: Memory;
  path: string;
}

/** Memory stores of texts as vector stores, and their entries as their files. */
export function createVectorStores({ must, orUndo, entries }: Deps) {
  function shownStore(store: Memory) {
    const { processing, failed } = entries.unfound(store, store.id);
    const total = store.entries ?? 0;
    return {
      id: store.id,
      object: "vector_store",
      created_at: seconds(store.created_at),
      name: store.name,
      status: processing > 0 || store.indexing ? "in_progress" : "completed",
      file_counts: countsOf(total, processing, failed),
      usage_bytes: 0,
      last_active_at: seconds(store.updated_at),
      metadata: store.metadata,
      expires_after: null,
      expires_at: null,
    };
  }

  /** Returns the store and its path. Throws if it is not a vector store. */
  async function find(request: Request, id: string): Promise<Found> {
    const path = `/v1/memory/${idIn("memory", id)}`;
    const store: Memory = await must(request, "GET", path);
    if (store.kind !== "vector") throw notFound();
    return { store, path };
  }

  async function create(request: Request): Promise<Response> {
    const body = readStore(await readJsonBody(request));
    refuseExpiry(body);
    const chunking_strategy = body.chunking_strategy ?? null;
    const files = (body.file_ids ?? []).map((file_id) => entryOf({ file_id, chunking_strategy }));
    for (const [index, { file_id }] of files.entries()) await mustFile(request, file_id, `file_ids[${index}]`);
    const createdStore: Memory = await must(request, "POST", "/v1/memory", {
      kind: "vector",
      scope: "project",
      name: body.name ?? "vector store",
      metadata: body.metadata ?? {},
    });
    const path = `/v1/memory/${createdStore.id}`;
    await orUndo(request, path, async () => {
      for (const file of files) await must(request, "POST", `${path}/entries`, file);
    });
    return json(200, shownStore(await must(request, "GET", path)));
  }

  async function mustFile(request: Request, id: string, param: string): Promise<void> {
    await must(request, "GET", `/v1/files/${id}`).catch((error) => {
      throw isRefusal(error, "resource_not_found") ? invalid(param, noSuch("file")) : error;
    });
  }

  async function update(request: Request, id: string): Promise<Response> {
    const body = readUpdate(await readJsonBody(request));
    refuseExpiry(body);
    const { path } = await find(request, id);
    const { name, metadata } = body;
    const changes = { ...(name && { name }), ...(metadata !== undefined && { metadata: metadata ?? {} }) };
    return json(200, shownStore(await must(request, "PATCH", path, changes)));
  }

  async function remove(request: Request, id: string): Promise<Response> {
    const { path } = await find(request, id);
    await must(request, "DELETE", path);
    return json(200, { id, object: "vector_store.deleted", deleted: true });
  }

  async function search(request: Request, id: string): Promise<Response> {
    const body = readSearch(await readJsonBody(request));
    const { path } = await find(request, id);
    const queries = typeof body.query === "string" ? [body.query] : body.query;
    const top_k = body.max_num_results ?? 10;
    const threshold = body.ranking_options?.score_threshold;
    const searchBody = {
      top_k,
      ...(body.scope_id && { scope_id: body.scope_id }),
      ...(body.filters != null && { filter: filterOf(body.filters) }),
      ...(typeof threshold === "number" && { score_threshold: threshold }),
    };
    const found = new Map<string, MemoryMatch>();
    for (const query of queries) {
      const { data }: { data: MemoryMatch[] } = await must(request, "POST", `${path}/search`, { query, ...searchBody });
      for (const match of data) {
        const place = `${match.id}:${match.chunk_index}`;
        if (match.score > (found.get(place)?.score ?? -1)) found.set(place, match);
      }
    }
    const best = [...found.values()].sort((one, other) => other.score - one.score).slice(0, top_k);
    return json(200, {
      object: "vector_store.search_results.page",
      search_query: queries,
      data: best.map(shownMatch),
      has_more: false,
      next_page: null,
    });
  }

  /**
   * Returns the entry of a file in a store; a text without a file is its own file. `within` selects the scope, if not
   * that of the request's address.
   */
  async function findEntry(
    request: Request,
    { store, path }: Found,
    fileId: string,
    within?: Record<string, string>,
  ): Promise<MemoryEntry> {
    if (fileId.startsWith(`${prefixes.memory_entry}_`))
      return await must(request, "GET", `${path}/entries/${idIn("memory_entry", fileId)}`);
    const part = within ?? partOf(store, new URL(request.url).searchParams.get("scope_id"));
    return (await entryOfFile(request, path, fileId, part)) ?? throwNotFound();
  }

  async function entryOfFile(
    request: Request,
    path: string,
    fileId: string,
    within: Record<string, string>,
  ): Promise<MemoryEntry | null> {
    const query = new URLSearchParams({ ...within, file_id: idIn("file", fileId), limit: "1" });
    return (await must(request, "GET", `${path}/entries?${query}`)).data[0] ?? null;
  }

  async function addFile(request: Request, id: string): Promise<Response> {
    const body = readFile(await readJsonBody(request));
    const { path } = await find(request, id);
    return json(200, shownFile(await must(request, "POST", `${path}/entries`, entryOf(body))));
  }

  /** `within` limits the list to a part of the entries. */
  async function listFiles(request: Request, id: string, within?: Record<string, string>): Promise<Response> {
    const found = await find(request, id);
    const query = listQuery(request.url, {
      filter: (value) => ({ status: wordIn(statuses, "filter", value) }),
      scope_id: (value) => ({ scope_id: value }),
    });
    for (const place of ["starting_after", "ending_before"]) {
      const fileId = query.get(place);
      if (fileId !== null) query.set(place, (await findEntry(request, found, fileId, within)).id);
    }
    for (const [name, value] of Object.entries(within ?? {})) query.set(name, value);
    const path = `${found.path}/entries?${query}`;
    return json(200, listOf<MemoryEntry, ShownFile>(await must(request, "GET", path), shownFile));
  }

  async function getFile(request: Request, id: string, fileId: string): Promise<Response> {
    return json(200, shownFile(await findEntry(request, await find(request, id), fileId)));
  }

  async function content(request: Request, id: string, fileId: string): Promise<Response> {
    const { file_id, text } = await findEntry(request, await find(request, id), fileId);
    const after = new URL(request.url).searchParams.get("after");
    const query = new URLSearchParams({ limit: "100", ...(after !== null && { starting_after: after }) });
    const page: { data: Pick<FileChunk, "text">[]; has_more: boolean; last_id: string | null } =
      file_id === null
        ? { data: [{ text: text ?? "" }], has_more: false, last_id: null }
        : await must(request, "GET", `/v1/files/${file_id}/chunks?${query}`);
    return json(200, {
      object: "vector_store.file_content.page",
      data: page.data.map((chunk) => ({ type: "text", text: chunk.text })),
      has_more: page.has_more,
      next_page: page.has_more ? page.last_id : null,
    });
  }

  async function removeFile(request: Request, id: string, fileId: string): Promise<Response> {
    const found = await find(request, id);
    const entry = await findEntry(request, found, fileId);
    await must(request, "DELETE", `${found.path}/entries/${entry.id}`);
    return json(200, { id: fileId, object: "vector_store.file.deleted", deleted: true });
  }

  async function addFiles(request: Request, id: string): Promise<Response> {
    const body = readFiles(await readJsonBody(request));
    const { store, path } = await find(request, id);
    const files = body.files ?? (body.file_ids ?? []).map((file_id) => ({ ...body, file_id }));
    if (files.length === 0) throw invalid("file_ids", "Must have at least one file.", "required");
    const part = partOf(store, body.scope_id);
    // Check all files before the first is added.
    const newEntries: (ReturnType<typeof entryOf> & { known: MemoryEntry["metadata"] | null })[] = [];
    for (const [index, file] of files.entries()) {
      const entry = entryOf({ ...file, scope_id: body.scope_id });
      const param = body.files ? `files[${index}].file_id` : `file_ids[${index}]`;
      newEntries.push({ ...entry, known: await lookAt(request, path, entry, part, param) });
    }
    // Reuse the batch of files that are already in the store, so that a retry completes it.
    const batch = newEntries.map(({ known }) => known?.[batchKey]).find(isBatch) ?? newBatch();
    for (const { known, ...entry } of newEntries)
      await must(request, "POST", `${path}/entries`, {
        ...entry,
        metadata: known ?? { ...entry.metadata, [batchKey]: batch },
      });
    return await batchOf(request, id, batch);
  }

  /**
   * Returns the metadata of a file that is in the store, else null. Throws if it cannot be added, or has other
   * attributes.
   */
  async function lookAt(
    request: Request,
    path: string,
    { file_id, metadata = {} }: ReturnType<typeof entryOf>,
    part: Record<string, string>,
    param: string,
  ): Promise<MemoryEntry["metadata"] | null> {
    const known = await entryOfFile(request, path, file_id, part);
    if (known && isDeepStrictEqual(withoutBatch(known.metadata), withoutBatch(metadata))) return known.metadata;
    if (known && known.status !== "failed")
      throw invalid(param, "The file is in this store with other attributes: take it out first.");
    if (!known) await mustFile(request, file_id, param);
    if (Object.keys(withoutBatch(metadata)).length > attributesMax)
      throw invalid(param.replace(/file_id.*/, "attributes"), tooManyAttributes);
    return null;
  }

  async function batchOf(request: Request, id: string, batch: string): Promise<Response> {
    const { path } = await find(request, id);
    const data: MemoryEntry[] = [];
    // Start at the batch's time: its files are not older.
    for (let after: string | null = batch.replace(batchPrefix, entryPrefix); after !== null; ) {
      const query = new URLSearchParams({ ...withinBatch(batch), limit: "100", order: "asc", starting_after: after });
      const page: List<MemoryEntry> = await must(request, "GET", `${path}/entries?${query}`);
      data.push(...page.data);
      after = page.has_more ? page.last_id : null;
    }
    const count = (wanted: MemoryEntry["status"]) => data.filter(({ status }) => status === wanted).length;
    const [processing, failed] = [count("processing"), count("failed")];
    return json(200, {
      id: batch,
      object: "vector_store.files_batch",
      created_at: seconds(data[0]?.created_at ?? "") || 0,
      vector_store_id: id,
      status: processing > 0 ? "in_progress" : "completed",
      file_counts: countsOf(data.length, processing, failed),
    });
  }

  return {
    create,
    update,
    remove,
    search,
    addFile,
    getFile,
    content,
    removeFile,
    addFiles,
    async list(request: Request): Promise<Response> {
      const stores = await must(request, "GET", `/v1/memory?kind=vector&${listQuery(request.url)}`);
      return json(200, listOf(stores, shownStore));
    },
    get: async (request: Request, id: string) => json(200, shownStore((await find(request, id)).store)),
    listFiles: (request: Request, id: string) => listFiles(request, id),
    batch: (request: Request, id: string, batch: string) => batchOf(request, id, batchIn(batch)),
    batchFiles: (request: Request, id: string, batch: string) => listFiles(request, id, withinBatch(batchIn(batch))),
  };
}

const countsOf = (total: number, in_progress: number, failed: number) => ({
  in_progress,
  failed,
  cancelled: 0,
  completed: total - in_progress - failed,
  total,
});

/** Refuses expiry, because keeping files for ever instead would go unnoticed. */
function refuseExpiry({ expires_after }: { expires_after?: unknown }): void {
  if (expires_after) throw invalid("expires_after", "Vector stores do not expire.");
}

const statuses = { in_progress: "processing", completed: "ready", failed: "failed" } as const;
const shownStatuses: Record<MemoryEntry["status"], string> = {
  processing: "in_progress",
  ready: "completed",
  failed: "failed",
};

interface ShownFile {
  id: string;
}

const shownFile = ({ id, file_id, memory_id, created_at, status, error, metadata }: MemoryEntry) => ({
  id: file_id ?? id,
  object: "vector_store.file",
  created_at: seconds(created_at),
  vector_store_id: memory_id,
  status: shownStatuses[status],
  usage_bytes: 0,
  attributes: metadata,
  last_error: status === "failed" && error ? { code: errorCode(error.code), message: error.message } : null,
});

const errorCode = (code: string): string => (code === "embedding_failed" ? "server_error" : "invalid_file");

const shownMatch = ({ id, file_id, filename, score, metadata, text }: MemoryMatch) => ({
  file_id: file_id ?? id,
  filename: filename ?? "",
  score,
  attributes: metadata,
  content: [{ type: "text", text }],
});

/** Converts a file of a store for the API. */
function entryOf({ file_id, attributes, chunking_strategy, scope_id }: AddFile) {
  const chunking = chunkingOf(chunking_strategy ?? null);
  return {
    file_id: idIn("file", file_id),
    ...(attributes && { metadata: attributes }),
    ...(chunking && { chunking }),
    ...(scope_id && { scope_id }),
  };
}

function chunkingOf(strategy: Chunking | null) {
  if (!strategy || strategy.type === "auto") return null;
  const sizes = strategy.type === "static" ? strategy.static : null;
  if (!sizes) throw invalid("chunking_strategy.type", "Must be auto, or static with its sizes.");
  const { max_chunk_size_tokens, chunk_overlap_tokens } = sizes;
  return { max_chunk_size_tokens, chunk_overlap_tokens };
}

// A batch is stored in the metadata of its files only.
const batchKey = "file_batch_id";
const batchPrefix = "vsfb_";
const entryPrefix = `${prefixes.memory_entry}_`;

/** Made like an entry's id, so that the batch's files sort after it. */
const newBatch = (): string => newId("memory_entry").replace(entryPrefix, batchPrefix);

const isBatch = (value: unknown): value is string =>
  typeof value === "string" &&
  value.startsWith(batchPrefix) &&
  isId("memory_entry", value.replace(batchPrefix, entryPrefix));

function batchIn(text: string): string {
  if (!isBatch(text)) throw notFound();
  return text;
}

/** One below the API's limit, because the batch takes one. */
const attributesMax = 15;
const tooManyAttributes = `A file of a batch has at most ${attributesMax} attributes.`;

const withoutBatch = ({ [batchKey]: _, ...attributes }: Record<string, unknown>) => attributes;

const withinBatch = (batch: string) => ({ [`metadata[${batchKey}]`]: batch });

/** Returns the query for a scope. Throws if the store has scopes and none is given. */
function partOf(store: Memory, scopeId: string | null | undefined): Record<string, string> {
  const scope_id = scopeIdOf(store, scopeId);
  return scope_id === "" ? {} : { scope_id };
}
