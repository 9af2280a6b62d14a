import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ModelList } from "../../domain/api-types/model.ts";
import { noSuch, repeatedParameter } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { modelKinds } from "../../domain/listed-model.ts";
import { timestampOrNull } from "../../domain/time.ts";
import type { Auth } from "../../http/auth.ts";
import { cachedQuery } from "../../http/cached-query.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { Query } from "../../http/operation.ts";
import { forwardQuery } from "../../http/page.ts";
import { about, oneOf } from "../../lib/schema.ts";
import type { CatalogFilter, CatalogModel, ModelCatalog, ModelListState } from "./model-catalog.ts";
import type { PriceStore } from "./prices.ts";

interface ModelRoutes {
  auth: Auth;
  catalog: ModelCatalog;
  prices: PriceStore;
}

const limitMax = 1000;
const searchMax = 200;

const query: Query = {
  limit: about(
    "How many models a page has at most.",
    Type.Integer({ minimum: 1, maximum: limitMax, default: limitMax }),
  ),
  starting_after: forwardQuery.starting_after,
  q: about(
    "Only models with these words in any part of their names. Typing errors are forgiven.",
    Type.String({ maxLength: searchMax }),
  ),
  connection: about("Only models of this connection, named by the first part of their ids.", Type.String()),
  kind: about("Only models of this kind.", oneOf(modelKinds, { default: "chat" })),
  available: about("Only models that a run could use now, or only the others.", oneOf(["true", "false"])),
};

/** `GET /v1/models`: models that agents may use. */
export const modelRoutes = ({ auth, catalog, prices }: ModelRoutes) =>
  new Elysia({ tags: ["Account"] }).use(auth).get(
    "/models",
    async ({ principal: { environment }, request }) => {
      const { limit, starting_after, ...filter } = readQuery(request.url);
      const models = await catalog.models(environment, prices, filter);
      return { ...pageOf(models, limit, starting_after), connections: catalog.states().map(toSource) };
    },
    {
      operation: {
        id: "models.list",
        summary: "List the models that agents may use",
        needs: "read_or_run",
        query,
        returns: ModelList,
      },
    },
  );

/** Without the server's own words, which a key of a project may not see. */
const toSource = ({ prefix, count, read_at_ms, is_reading, error }: ModelListState) => ({
  connection: prefix,
  models: count,
  read_at: timestampOrNull(read_at_ms),
  reading: is_reading,
  error: error && { code: error.code, message: error.message },
});

function pageOf(models: CatalogModel[], limit: number, starting_after: string | null) {
  const from = starting_after === null ? 0 : placeAfter(models, starting_after);
  const data = models.slice(from, from + limit);
  return {
    object: "list" as const,
    data,
    has_more: from + limit < models.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

/** A cursor is a position: its model may have left the list since. Then the next one of its connection follows. */
function placeAfter(models: CatalogModel[], id: string): number {
  const at = models.findIndex((model) => model.id === id);
  if (at !== -1) return at + 1;
  const isBeside = ({ connection }: CatalogModel) => id.startsWith(`${connection}/`);
  const next = models.findIndex((model) => isBeside(model) && model.id > id);
  return next === -1 ? models.findLastIndex(isBeside) + 1 || models.length : next;
}

interface ModelQuery extends CatalogFilter {
  limit: number;
  starting_after: string | null;
}

/** Parses the parameters; throws all faults at once. */
function readQuery(url: string): ModelQuery {
  const read: ModelQuery = { limit: limitMax, starting_after: null };
  if (!url.includes("?")) return read;
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const [name, value] of cachedQuery(url)) {
    const problem = seen.has(name) ? repeatedParameter : readParameter(read, name, value);
    if (problem) faults.push(fault(name, problem));
    seen.add(name);
  }
  throwIfInvalid(faults.slice(0, 100));
  return read;
}

/** Adds one parameter. Returns its fault or null. */
function readParameter(read: ModelQuery, name: string, value: string): string | null {
  switch (name) {
    case "limit":
      if (!/^\d{1,4}$/.test(value) || Number(value) < 1 || Number(value) > limitMax)
        return `Must be an integer from 1 to ${limitMax}.`;
      read.limit = Number(value);
      return null;
    case "starting_after":
      if (value === "") return "Must be an id.";
      read.starting_after = value;
      return null;
    case "q":
      if (value.length > searchMax) return `A search has at most ${searchMax} characters.`;
      read.q = value;
      return null;
    case "connection":
      read.connection = value;
      return null;
    case "kind":
      read.kind = modelKinds.find((kind) => kind === value);
      return read.kind ? null : `Must be one of ${modelKinds.join(", ")}.`;
    case "available":
      if (value !== "true" && value !== "false") return "Must be one of true, false.";
      read.available = value === "true";
      return null;
  }
  return noSuch("filter");
}
