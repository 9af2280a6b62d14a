import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { UsageReport } from "../wire/usage.ts";
import { readUsageQuery, usageParameters } from "./query.ts";
import type { UsageStore } from "./store.ts";

/** `GET /v1/usage`: what runs used, by day, agent or model. */
export const usageRoutes = ({ auth, usage, now }: { auth: Auth; usage: UsageStore; now: () => number }) =>
  new Elysia({ tags: ["Account"] })
    .use(auth)
    .get("/usage", ({ principal, request }) => usage.report(principal, readUsageQuery(request.url, now())), {
      operation: {
        id: "usage.retrieve",
        summary: "Retrieve usage by day, agent or model",
        needs: "read",
        query: usageParameters,
        returns: UsageReport,
      },
    });
