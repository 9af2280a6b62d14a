import { Elysia } from "elysia";
import { allOf, Price, Connection as ShownConnection, Tried } from "../domain/api-types/console.ts";
import { Deleted } from "../domain/api-types/schema.ts";
import { AppError } from "../domain/errors.ts";
import { notFound, throwNotFound } from "../domain/not-found.ts";
import { timestampOrNull } from "../domain/time.ts";
import { invalid } from "../http/errors.ts";
import { withDeclaration } from "../http/operation.ts";
import { pathWith } from "../http/schemas.ts";
import { requireValue } from "../lib/require-value.ts";
import { type ConnectionInput, checkConnection } from "../resources/model-connections/check-connection.ts";
import type { PriceStore } from "../resources/model-connections/prices.ts";
import type { ConnectionStore } from "../resources/model-connections/store.ts";
import type { tryConnection } from "../resources/model-connections/try-connection.ts";
import type { Connection } from "../runtime/models/model.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import type { Audit } from "../storage/db/audit.ts";
import type { Db } from "../storage/db/open.ts";
import { ConnectionName, ConnectionTest, NewConnection, NewPrice, PricedModel } from "./schema.ts";
import type { SessionGuard } from "./session-guard.ts";

interface ConnectionRoutes {
  signedIn: SessionGuard;
  connections: ConnectionStore;
  prices: PriceStore;
  tryConnection: typeof tryConnection;
  db: Db;
  audit: Audit;
}

/** Routes for model connections and prices. Every member sees them, without keys; owners change them. */
export function connectionRoutes({ signedIn, connections, prices, tryConnection, db, audit }: ConnectionRoutes) {
  /** Stored connections take precedence over those of the environment with the same models. */
  function list() {
    const usedPrefixes = new Set<string>();
    return connections.list().map(({ created_at_ms, ...connection }) => {
      const prefix = modelPrefix(connection);
      const used = !usedPrefixes.has(prefix);
      usedPrefixes.add(prefix);
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

  const nameParams = { params: pathWith({ name: ConnectionName }) };
  return new Elysia({ prefix: "/console/api" })
    .use(signedIn)
    .get("/connections", () => ({ object: "list", data: list(), has_more: false }), {
      role: "viewer",
      ...withDeclaration({ returns: allOf(ShownConnection) }),
    })
    .post(
      "/connections",
      async ({ body, visitor, status }) => {
        const connection = read(body);
        await connections.put(connection, visitor.actor);
        const created = list().find(({ name }) => name === connection.name);
        return status(201, requireValue(created, `The connection ${connection.name}`));
      },
      { role: "owner", body: NewConnection, ...withDeclaration({ creates: ShownConnection }) },
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
      async ({ params: { name }, body, visitor }) => {
        const known = list().find((each) => each.name === name) ?? throwNotFound();
        const { connection } = connections.resolve(`${known.prefix}/any`, "live");
        const testResult = await tryConnection(connection, body.model?.trim() || null);
        const details = { ok: testResult.ok, ...(testResult.model && { model: testResult.model }) };
        // A test costs a little, so record it.
        await db.write(() => audit.note(visitor, "model_connection.tested", name, details));
        return testResult;
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

function read(draft: ConnectionInput): Connection {
  const read = checkConnection(draft);
  if ("message" in read) throw invalid(read.param, read.message);
  return read;
}
