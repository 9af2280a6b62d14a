import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { memoryKindNames } from "../../domain/agent-snapshot.ts";
import { DeletedKey, Memory, MemoryEntry, MemoryKey, MemoryMatches } from "../../domain/api-types/memory.ts";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import type { Auth } from "../../http/auth.ts";
import { listQuery, plainListQuery, readPage } from "../../http/page.ts";
import { idOf, pathOf, pathWith, ScopeId } from "../../http/schemas.ts";
import { nameFilter } from "../../http/set-by-name.ts";
import { about, oneOf } from "../../lib/schema.ts";
import type { EntryStore } from "./entries.ts";
import { type KeyPlace, type KeyStore, readIfMatch } from "./keys.ts";
import {
  CreateEntry,
  CreateMemory,
  entryFilters,
  keyFilters,
  PutKey,
  SearchMemory,
  UpdateEntry,
  UpdateMemory,
} from "./schema.ts";
import type { MemorySearch } from "./search.ts";
import type { MemoryStores } from "./store.ts";

const params = pathOf("memory");
const entryParams = pathWith({
  id: about("The id.", idOf("memory")),
  entry_id: about("The id of the entry.", idOf("memory_entry")),
});
const keyParams = pathWith({ id: about("The id.", idOf("memory")), key: about("The key's name.", Type.String()) });

const storeFilters = { ...nameFilter, kind: about("Only stores of this kind.", oneOf(memoryKindNames)) };
// The scope is a query parameter, because the body is the value itself.
const ofOneKey = { scope_id: keyFilters.scope_id };
const ofNewKey = {
  scope_id: about("The user or the session that it belongs to, if the store is scoped to one.", ScopeId),
};

interface MemoryRoutes {
  auth: Auth;
  stores: MemoryStores;
  search: MemorySearch;
}

export const memoryRoutes = ({ auth, stores, search }: MemoryRoutes) =>
  new Elysia({ prefix: "/memory", tags: ["Memory"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await stores.create(principal, body)), {
      operation: {
        id: "memory.create",
        summary: "Create a memory store",
        needs: "admin",
        creates: Memory,
        errors: ["model_not_available", "embedding_failed"],
      },
      body: CreateMemory,
    })
    .get("/", ({ principal, request }) => stores.list(principal, readPage(request.url, storeFilters)), {
      operation: {
        id: "memory.list",
        summary: "List memory stores",
        needs: "read_or_run",
        query: { ...listQuery, ...storeFilters },
        returns: listOf(Memory),
      },
    })
    .get("/:id", ({ principal, params }) => stores.get(principal, params.id), {
      operation: {
        id: "memory.retrieve",
        summary: "Retrieve a memory store",
        needs: "read_or_run",
        returns: Memory,
      },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => stores.update(principal, params.id, body), {
      operation: {
        id: "memory.update",
        summary: "Update a memory store, or its embedding model",
        needs: "admin",
        returns: Memory,
        errors: ["model_not_available", "embedding_failed"],
      },
      params,
      body: UpdateMemory,
    })
    .delete("/:id", ({ principal, params }) => stores.remove(principal, params.id), {
      operation: {
        id: "memory.delete",
        summary: "Delete a memory store with its content",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .post("/:id/search", ({ principal, params, body, request }) => search(principal, params.id, body, request.signal), {
      operation: {
        id: "memory.search",
        summary: "Search a memory store",
        needs: "read_or_run",
        bucket: "reads_per_minute",
        needsRoom: false,
        returns: MemoryMatches,
        errors: ["embedding_failed", "model_not_available"],
      }, // Read-only.
      params,
      body: SearchMemory,
    });

export const entryRoutes = ({ auth, entries }: { auth: Auth; entries: EntryStore }) =>
  new Elysia({ prefix: "/memory", tags: ["Memory"] })
    .use(auth)
    .post(
      "/:id/entries",
      async ({ principal, params, body, status }) => {
        const { entry, isNew } = await entries.create(principal, params.id, body);
        return status(isNew ? 201 : 200, entry);
      },
      {
        operation: {
          id: "memory.entries.create",
          summary: "Add a text or a file to a memory store",
          needs: "run",
          creates: MemoryEntry,
          also: { 200: "The file is in the store already: its entry." },
          errors: ["unsupported_file_type"],
        },
        params,
        body: CreateEntry,
      },
    )
    .get(
      "/:id/entries",
      ({ principal, params, request }) => entries.list(principal, params.id, readPage(request.url, entryFilters)),
      {
        operation: {
          id: "memory.entries.list",
          summary: "List the entries of a memory store",
          needs: "read_or_run",
          query: { ...listQuery, ...entryFilters },
          returns: listOf(MemoryEntry),
        },
        params,
      },
    )
    .get("/:id/entries/:entry_id", ({ principal, params }) => entries.get(principal, params.id, params.entry_id), {
      operation: {
        id: "memory.entries.retrieve",
        summary: "Retrieve an entry",
        needs: "read_or_run",
        returns: MemoryEntry,
      },
      params: entryParams,
    })
    .patch(
      "/:id/entries/:entry_id",
      ({ principal, params, body }) => entries.update(principal, params.id, params.entry_id, body),
      {
        operation: {
          id: "memory.entries.update",
          summary: "Change the text or the metadata of an entry",
          needs: "run",
          returns: MemoryEntry,
        },
        params: entryParams,
        body: UpdateEntry,
      },
    )
    .delete(
      "/:id/entries/:entry_id",
      ({ principal, params }) => entries.remove(principal, params.id, params.entry_id),
      {
        operation: {
          id: "memory.entries.delete",
          summary: "Delete an entry",
          needs: "run",
          returns: Deleted,
        },
        params: entryParams,
      },
    );

export const keyRoutes = ({ auth, keys }: { auth: Auth; keys: KeyStore }) =>
  new Elysia({ prefix: "/memory", tags: ["Memory"] })
    .use(auth)
    .get(
      "/:id/keys",
      ({ principal, params, request }) => keys.list(principal, params.id, readPage(request.url, keyFilters)),
      {
        operation: {
          id: "memory.keys.list",
          summary: "List keys by their names",
          needs: "read_or_run",
          query: { ...plainListQuery, ...keyFilters },
          returns: listOf(MemoryKey),
        },
        params,
      },
    )
    .get("/:id/keys/:key", ({ principal, params, request }) => keys.get(principal, placeOf(params, request)), {
      operation: {
        id: "memory.keys.retrieve",
        summary: "Retrieve the value of a key",
        needs: "read_or_run",
        query: ofOneKey,
        returns: MemoryKey,
      },
      params: keyParams,
    })
    .put(
      "/:id/keys/:key",
      ({ principal, params, body, request }) =>
        keys.put(principal, placeOf(params, request, ofNewKey), body, readIfMatch(request.headers)),
      {
        operation: {
          id: "memory.keys.set",
          summary: "Set the value of a key; with `If-Match` only over that version",
          needs: "run",
          query: ofNewKey,
          returns: MemoryKey,
          errors: ["precondition_failed"],
          requestHeaders: ["If-Match"],
        },
        params: keyParams,
        body: PutKey,
      },
    )
    .delete(
      "/:id/keys/:key",
      ({ principal, params, request }) =>
        keys.remove(principal, placeOf(params, request), readIfMatch(request.headers)),
      {
        operation: {
          id: "memory.keys.delete",
          summary: "Delete a key; with `If-Match` only that version",
          needs: "run",
          query: ofOneKey,
          returns: DeletedKey,
          errors: ["precondition_failed"],
          requestHeaders: ["If-Match"],
        },
        params: keyParams,
      },
    );

function placeOf({ id, key }: { id: string; key: string }, { url }: Request, query = ofOneKey): KeyPlace {
  const { scope_id = null } = readPage(url, query).filters;
  return { memory_id: id, scope_id, key };
}
