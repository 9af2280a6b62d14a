import { Elysia } from "elysia";
import { checkConnection, type GivenConnection } from "../connections/given.ts";
import type { PriceStore } from "../connections/prices.ts";
import type { ConnectionStore } from "../connections/store.ts";
import type { tryConnection } from "../connections/try-connection.ts";
import { AppError } from "../core/errors.ts";
import { missing, notFound } from "../core/not-found.ts";
import { timestampOrNull } from "../core/time.ts";
import type { Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { invalid } from "../http/errors.ts";
import { declared } from "../http/operation.ts";
import { pathWith } from "../http/schemas.ts";
import type { Connection } from "../models/port.ts";
import { modelPrefix } from "../models/registry.ts";
import { allOf, Price, Connection as ShownConnection, Tried } from "../wire/console.ts";
import { Deleted } from "../wire/schema.ts";
import { ConnectionName, ConnectionTest, NewConnection, NewPrice, PricedModel } from "./schema.ts";
import type { SignedIn } from "./signed-in.ts";

interface ConnectionRoutes {
  signedIn: SignedIn;
  connections: ConnectionStore;
  prices: PriceStore;
  tryConnection: typeof tryConnection;
  db: Db;
  audit: Audit;
}

/** How model providers are reached and what their models cost. Everybody sees it, but for the keys; owners change it. */
export function connectionRoutes({ signedIn, connections, prices, tryConnection, db, audit }: ConnectionRoutes) {
  /** Stored ones go before those of the environment, which are then not used. */
  function list() {
    const seen = new Set<string>();
    return connections.list().map(({ created_at_ms, ...connection }) => {
      const used = !seen.has(connection.name);
      seen.add(connection.name);
      const prefix = modelPrefix(connection);
      return { id: connection.name, ...connection, prefix, used, created_at: timestampOrNull(created_at_ms) };
    });
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
          }
        : [],
    );
    return [...ofMany, ...known];
  }

  const named = { params: pathWith({ name: ConnectionName }) };
  return new Elysia({ prefix: "/console/api" })
    .use(signedIn)
    .get("/connections", () => ({ object: "list", data: list(), has_more: false }), {
      role: "viewer",
      ...declared({ returns: allOf(ShownConnection) }),
    })
    .post(
      "/connections",
      async ({ body, visitor, status }) => {
        const connection = read(body);
        await connections.put(connection, visitor.actor);
        return status(201, list().find(({ name }) => name === connection.name)!);
      },
      { role: "owner", body: NewConnection, ...declared({ creates: ShownConnection }) },
    )
    .delete(
      "/connections/:name",
      async ({ params: { name }, visitor }) => {
        if (!(await connections.remove(name, visitor.actor))) throw notFound();
        return { id: name, object: "connection", deleted: true };
      },
      { role: "owner", ...named, ...declared({ returns: Deleted }) },
    )
    .post(
      "/connections/:name/test",
      async ({ params: { name }, body, visitor }) => {
        const known = list().find((each) => each.name === name) ?? missing();
        const { connection } = connections.resolve(`${known.prefix}/any`, "live");
        const tried = await tryConnection(connection, body.model?.trim() || null);
        const details = { ok: tried.ok, ...(tried.model && { model: tried.model }) };
        // It has cost something, if little.
        await db.write(() => audit.note(visitor, "model_connection.tested", name, details));
        return tried;
      },
      { role: "owner", ...named, body: ConnectionTest, ...declared({ returns: Tried }) },
    )
    .get("/prices", async () => ({ object: "list", data: await priced(), has_more: false }), {
      role: "viewer",
      ...declared({ returns: allOf(Price) }),
    })
    .put(
      "/prices",
      async ({ body: { model, context_window = null, ...price }, visitor }) => {
        await prices.set(model, { ...price, context_window }, visitor.actor);
        return { id: model, object: "price", ...price, context_window };
      },
      { role: "owner", body: NewPrice },
    )
    .post(
      "/prices/reset",
      async ({ body: { model }, visitor }) => {
        if (!(await prices.reset(model, visitor.actor)))
          throw new AppError("resource_not_found", "This price is not one that was set here.", { param: "model" });
        return { id: model, object: "price", deleted: true };
      },
      { role: "owner", body: PricedModel, ...declared({ returns: Deleted }) },
    );
}

function read(given: GivenConnection): Connection {
  const read = checkConnection(given);
  if ("message" in read) throw invalid(read.param, read.message);
  return read;
}
