import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { memoryKinds } from "../core/agent-snapshot.ts";
import type { Auth } from "../http/auth.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { idOf, pathOf, pathWith } from "../http/schemas.ts";
import type { EntryStore } from "./entries.ts";
import { type KeyPlace, type KeyStore, keyFilters, readIfMatch } from "./keys.ts";
import { CreateEntry, CreateMemory, entryFilters, PutKey, SearchMemory, UpdateMemory } from "./schema.ts";
import type { MemorySearch } from "./search.ts";
import type { MemoryStores } from "./store.ts";

const params = pathOf("memory");
const entryParams = pathWith({ id: idOf("memory"), entry_id: idOf("memory_entry") });
const keyParams = pathWith({ id: idOf("memory"), key: Type.String() });

const storeFilters = { kind: memoryKinds };
const ofStores = [...pageParameters, ...Object.keys(storeFilters)];
const ofEntries = [...pageParameters, ...Object.keys(entryFilters)];
const ofKeys = [...pageParameters.filter((name) => name !== "metadata[*]"), ...Object.keys(keyFilters)];

export interface MemoryRoutes {
  auth: Auth;
  stores: MemoryStores;
  entries: EntryStore;
  keys: KeyStore;
  search: MemorySearch;
}

export const memoryRoutes = ({ auth, stores, entries, keys, search }: MemoryRoutes) =>
  new Elysia({ prefix: "/memory" })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await stores.create(principal, body)), {
      permission: "admin",
      body: CreateMemory,
    })
    .get("/", ({ principal, request }) => stores.list(principal, readPage(request.url, storeFilters)), {
      permission: { needs: "read_or_run", query: ofStores },
    })
    .get("/:id", ({ principal, params }) => stores.get(principal, params.id), { permission: "read_or_run", params })
    .patch("/:id", ({ principal, params, body }) => stores.update(principal, params.id, body), {
      permission: "admin",
      params,
      body: UpdateMemory,
    })
    .delete("/:id", ({ principal, params }) => stores.remove(principal, params.id), { permission: "admin", params })
    .post("/:id/search", ({ principal, params, body, request }) => search(principal, params.id, body, request.signal), {
      permission: { needs: "read_or_run", bucket: "reads_per_minute" }, // It writes nothing.
      params,
      body: SearchMemory,
    })
    .post(
      "/:id/entries",
      async ({ principal, params, body, status }) => {
        const { entry, isNew } = await entries.create(principal, params.id, body);
        return status(isNew ? 201 : 200, entry);
      },
      { permission: "run", params, body: CreateEntry },
    )
    .get(
      "/:id/entries",
      ({ principal, params, request }) => entries.list(principal, params.id, readPage(request.url, entryFilters)),
      { permission: { needs: "read_or_run", query: ofEntries }, params },
    )
    .get("/:id/entries/:entry_id", ({ principal, params }) => entries.get(principal, params.id, params.entry_id), {
      permission: "read_or_run",
      params: entryParams,
    })
    .delete(
      "/:id/entries/:entry_id",
      ({ principal, params }) => entries.remove(principal, params.id, params.entry_id),
      { permission: "run", params: entryParams },
    )
    .get(
      "/:id/keys",
      ({ principal, params, request }) => keys.list(principal, params.id, readPage(request.url, keyFilters)),
      { permission: { needs: "read_or_run", query: ofKeys }, params },
    )
    .get("/:id/keys/:key", ({ principal, params, request }) => keys.get(principal, placeOf(params, request)), {
      permission: { needs: "read_or_run", query: ofOneKey },
      params: keyParams,
    })
    .put(
      "/:id/keys/:key",
      ({ principal, params, body, request }) =>
        keys.put(principal, placeOf(params, request), body, readIfMatch(request.headers)),
      { permission: { needs: "run", query: ofOneKey }, params: keyParams, body: PutKey },
    )
    .delete(
      "/:id/keys/:key",
      ({ principal, params, request }) =>
        keys.remove(principal, placeOf(params, request), readIfMatch(request.headers)),
      { permission: { needs: "run", query: ofOneKey }, params: keyParams },
    );

const ofOneKey = ["scope_id"];

/** The scope stands in the query, since the body of a value is the value's own. */
function placeOf({ id, key }: { id: string; key: string }, { url }: Request): KeyPlace {
  const { scope_id = null } = readPage(url, { scope_id: keyFilters.scope_id }).filters;
  return { memory_id: id, scope_id, key };
}
