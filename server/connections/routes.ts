import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import type { ConnectionStore } from "./store.ts";

/** `GET /v1/models`: what agents may use. */
export const modelRoutes = ({ auth, connections }: { auth: Auth; connections: ConnectionStore }) =>
  new Elysia()
    .use(auth)
    .get(
      "/models",
      ({ principal }) => ({ object: "list", data: connections.models(principal.environment), has_more: false }),
      {
        permission: "read_or_run",
      },
    );
