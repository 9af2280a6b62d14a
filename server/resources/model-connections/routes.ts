import { Elysia } from "elysia";
import { ModelList } from "../../domain/api-types/model.ts";
import type { Auth } from "../../http/auth.ts";
import type { PriceStore } from "./prices.ts";
import type { ConnectionStore } from "./store.ts";

interface ModelRoutes {
  auth: Auth;
  connections: ConnectionStore;
  prices: PriceStore;
}

/** `GET /v1/models`: models that agents may use. */
export const modelRoutes = ({ auth, connections, prices }: ModelRoutes) =>
  new Elysia({ tags: ["Account"] }).use(auth).get(
    "/models",
    async ({ principal: { environment } }) => ({
      object: "list",
      data: await connections.models(environment, prices),
      has_more: false,
    }),
    {
      operation: {
        id: "models.list",
        summary: "List the models that agents may use",
        needs: "read_or_run",
        returns: ModelList,
      },
    },
  );
