import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { readUsageQuery } from "./query.ts";
import type { UsageStore } from "./store.ts";

/** `GET /v1/usage`: what runs used, by day, agent or model. */
export const usageRoutes = ({ auth, usage, now }: { auth: Auth; usage: UsageStore; now: () => number }) =>
  new Elysia()
    .use(auth)
    .get("/usage", ({ principal, request }) => usage.report(principal, readUsageQuery(request.url, now())), {
      permission: { needs: "read", query: ["from", "to", "group_by"] },
    });
