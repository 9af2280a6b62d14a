import { Elysia } from "elysia";
import {
  allOf,
  type ConnectionCheck,
  ConnectionConsent,
  ConnectionModels,
  Price,
  PriceTable,
  Connection as ShownConnection,
  Tried,
} from "../domain/api-types/console.ts";
import { Deleted } from "../domain/api-types/schema.ts";
import { AppError } from "../domain/errors.ts";
import { notFound, throwNotFound } from "../domain/not-found.ts";
import { timestamp, timestampOrNull } from "../domain/time.ts";
import { invalid } from "../http/errors.ts";
import { withDeclaration } from "../http/operation.ts";
import { pathWith } from "../http/schemas.ts";
import type { Egress } from "../lib/egress.ts";
import { requireValue } from "../lib/require-value.ts";
import { type ConnectionInput, checkConnection } from "../resources/model-connections/check-connection.ts";
import type { CircuitBreakers } from "../resources/model-connections/circuit-breakers.ts";
import type { ConnectionConsents } from "../resources/model-connections/connection-consents.ts";
import { fetchPriceList } from "../resources/model-connections/fetch-price-list.ts";
import type { ModelCatalog, ModelListState } from "../resources/model-connections/model-catalog.ts";
import type { PriceStore } from "../resources/model-connections/prices.ts";
import { checkPriceList } from "../resources/model-connections/read-price-list.ts";
import type { RefusalStore } from "../resources/model-connections/refusal-store.ts";
import type { ConnectionStore } from "../resources/model-connections/store.ts";
import type { tryConnection } from "../resources/model-connections/try-connection.ts";
import type { Connection } from "../runtime/models/model.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import {
  ChangedConnection,
  ConnectionName,
  ConnectionTest,
  NewConnection,
  NewPrice,
  NewPriceTable,
  PricedModel,
} from "./schema.ts";
import type { SessionGuard } from "./session-guard.ts";
import { testStream, wantsLines } from "./test-stream.ts";

interface ConnectionRoutes {
  signedIn: SessionGuard;
  connections: ConnectionStore;
  consents: Pick<ConnectionConsents, "authorize">;
  /** Base URL of this server, to which the authorization server sends the operator back. */
  publicUrl: () => string;
  prices: PriceStore;
  breakers: Pick<CircuitBreakers, "outages">;
  refusals: Pick<RefusalStore, "list">;
  catalog: ModelCatalog;
  tryConnection: typeof tryConnection;
  /** Aborted when the server stops. */
  closing: AbortSignal;
  egress: Egress;
  now: () => number;
}

/** Routes for model connections and prices. Every member sees them, without keys; owners change them. */
export function connectionRoutes({
  signedIn,
  connections,
  consents,
  publicUrl,
  prices,
  breakers,
  refusals,
  catalog,
  tryConnection,
  closing,
  egress,
  now,
}: ConnectionRoutes) {
  /** Stored connections take precedence over those of the environment with the same models. */
  function list() {
    const usedPrefixes = new Set<string>();
    const lists = new Map(catalog.states().map((state) => [state.prefix, state]));
    const tests = connections.lastTests();
    return connections.list().map(({ created_at_ms, updated_at_ms, ...connection }) => {
      const prefix = modelPrefix(connection);
      const used = !usedPrefixes.has(prefix);
      usedPrefixes.add(prefix);
      const models = lists.get(prefix);
      const test = tests.get(prefix);
      return {
        id: connection.name,
        ...connection,
        prefix,
        used,
        outages: used ? outagesOf(prefix) : [],
        refusals: used ? refusalsOf(prefix) : [],
        created_at: timestampOrNull(created_at_ms),
        updated_at: timestampOrNull(updated_at_ms),
        models: used && models ? toModels(models) : null,
        last_test:
          used && test
            ? {
                ok: test.result.ok,
                model: test.result.model,
                error: test.result.error,
                tested_at: timestamp(test.tested_at_ms),
              }
            : null,
      };
    });
  }

  const outagesOf = (prefix: string) =>
    breakers
      .outages()
      .flatMap(({ model, state, since_ms, error }) =>
        model.startsWith(`${prefix}/`) ? { model, state, since: timestamp(since_ms), error } : [],
      );

  const refusalsOf = (prefix: string) =>
    refusals.list(prefix).map(({ model, refusals: fields, learnt_at_ms }) => ({
      model: `${prefix}/${model}`,
      fields,
      learnt_at: timestamp(learnt_at_ms),
    }));

  const shown = (name: string) =>
    requireValue(
      list().find((each) => each.name === name),
      `The connection ${name}`,
    );

  /** Reads the models of a new or changed connection, so that forms offer them at once. */
  function saved(name: string) {
    void catalog.refresh(name);
    return shown(name);
  }

  async function priced() {
    const models = await connections.models("live", prices);
    const known = models.map(({ object: _, prices: price, ...model }) => ({
      ...model,
      input: price.input,
      cached_input: price.cached_input,
      output: price.output,
      as_of: price.as_of,
      source: price.source,
      reference: price.reference ?? null,
      ...(price.long_context && { long_context: price.long_context }),
    }));
    const ofMany = prices.all().flatMap(({ model, set_at_ms, input, cached_input, output, context_window }) =>
      model.endsWith("/*")
        ? {
            id: model,
            provider: model.split("/")[0],
            available: true,
            context_window,
            input,
            cached_input,
            output,
            as_of: timestampOrNull(set_at_ms)?.slice(0, 10) ?? null,
            source: "operator" as const,
            reference: null,
          }
        : [],
    );
    return [...ofMany, ...known];
  }

  function table(): PriceTable {
    const { loaded_at_ms, ...info } = prices.table();
    return { object: "price_table", ...info, loaded_at: timestampOrNull(loaded_at_ms) };
  }

  /** Reads the table of a request, whose address is fetched within the rules for outgoing requests. */
  async function readTable({ url, table: given, name = "file" }: NewPriceTable) {
    if ((url === undefined) === (given === undefined)) throw invalid("url", "Give an address or a file.");
    if (url !== undefined) return await fetchPriceList(egress, url.trim(), now());
    return { list: checkPriceList(given, name, now()), origin: name };
  }

  const nameParams = { params: pathWith({ name: ConnectionName }) };
  return new Elysia({ prefix: "/console/api" })
    .use(signedIn)
    .get(
      "/connections",
      () => {
        catalog.touch();
        return { object: "list", data: list(), has_more: false };
      },
      { role: "viewer", ...withDeclaration({ returns: allOf(ShownConnection) }) },
    )
    .post(
      "/connections",
      async ({ body, visitor, status }) => {
        const connection = read(body);
        await connections.put(connection, visitor.actor);
        return status(201, saved(connection.name));
      },
      { role: "owner", body: NewConnection, ...withDeclaration({ creates: ShownConnection }) },
    )
    .patch(
      "/connections/:name",
      async ({ params: { name }, body, visitor }) => {
        await connections.update(name, body, visitor.actor);
        return saved(name);
      },
      { role: "owner", ...nameParams, body: ChangedConnection, ...withDeclaration({ returns: ShownConnection }) },
    )
    .post(
      "/connections/:name/models",
      async ({ params: { name } }) => toModels((await catalog.refresh(name)) ?? throwNotFound()),
      { role: "member", ...nameParams, ...withDeclaration({ returns: ConnectionModels }) },
    )
    .post(
      "/connections/:name/authorize",
      async ({ params: { name }, visitor }) => {
        const { state, expires_at_ms } = await consents.authorize(name, `${publicUrl()}/oauth/callback`, visitor.actor);
        return { url: `${publicUrl()}/oauth/consent/${state}`, expires_at: timestamp(expires_at_ms) };
      },
      { role: "owner", ...nameParams, ...withDeclaration({ returns: ConnectionConsent }) },
    )
    .delete(
      "/connections/:name",
      async ({ params: { name }, visitor }) => {
        if (!(await connections.remove(name, visitor.actor))) throw notFound();
        return { id: name, object: "connection", deleted: true };
      },
      { role: "owner", ...nameParams, ...withDeclaration({ returns: Deleted }) },
    )
    .post(
      "/connections/:name/test",
      async ({ params: { name }, body, visitor, request }) => {
        const used = connections.used().find((each) => each.name === name) ?? throwNotFound();
        const test = async (signal: AbortSignal, onCheck?: (check: ConnectionCheck) => void): Promise<Tried> => {
          const options = { model: body.model?.trim() || null, checks: body.checks, signal, onCheck };
          const result = await tryConnection(used.open(), {
            ...options,
            priceOf: prices.priceOf,
            tokenOf: connections.tokenOf,
          });
          await connections.noteTest(used, result, visitor.actor);
          return result;
        };
        const end = AbortSignal.any([request.signal, closing]);
        return wantsLines(request) ? testStream(end, test) : await test(end);
      },
      { role: "owner", ...nameParams, body: ConnectionTest, ...withDeclaration({ returns: Tried }) },
    )
    .get("/prices", async () => ({ object: "list", data: await priced(), has_more: false }), {
      role: "viewer",
      ...withDeclaration({ returns: allOf(Price) }),
    })
    .put(
      "/prices",
      async ({ body: { model, context_window = null, ...price }, visitor }) => {
        await prices.set(model, { ...price, context_window }, visitor.actor);
        return { id: model, object: "price", ...price, context_window };
      },
      { role: "owner", body: NewPrice },
    )
    .get("/price_table", table, { role: "viewer", ...withDeclaration({ returns: PriceTable }) })
    .put(
      "/price_table",
      async ({ body, visitor }) => {
        const { list, origin } = await readTable(body);
        await prices.load(list, origin, visitor.actor);
        return table();
      },
      { role: "owner", body: NewPriceTable, ...withDeclaration({ returns: PriceTable }) },
    )
    .post(
      "/price_table/reset",
      async ({ visitor }) => {
        if (!(await prices.unload(visitor.actor)))
          throw new AppError("resource_not_found", "No other table was loaded: the built-in one is in force.");
        return table();
      },
      { role: "owner", ...withDeclaration({ returns: PriceTable }) },
    )
    .post(
      "/prices/reset",
      async ({ body: { model }, visitor }) => {
        if (!(await prices.reset(model, visitor.actor)))
          throw new AppError("resource_not_found", "This price is not one that was set here.", { param: "model" });
        return { id: model, object: "price", deleted: true };
      },
      { role: "owner", body: PricedModel, ...withDeclaration({ returns: Deleted }) },
    );
}

const toModels = ({ count, read_at_ms, is_reading, error }: ModelListState) => ({
  count,
  read_at: timestampOrNull(read_at_ms),
  reading: is_reading,
  error,
});

function read(draft: ConnectionInput): Connection {
  const read = checkConnection(draft);
  if ("message" in read) throw invalid(read.param, read.message);
  return read;
}
