import { Elysia } from "elysia";
import { AnalyticsReport, UsageReport } from "../../domain/api-types/usage.ts";
import type { Auth } from "../../http/auth.ts";
import { analyticsParameters, readAnalyticsQuery } from "./analytics-query.ts";
import type { createAnalytics } from "./analytics-store.ts";
import { readUsageQuery, usageParameters } from "./query.ts";
import type { UsageStore } from "./store.ts";

/** `GET /v1/usage`: usage by day, agent or model. */
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

/** `GET /v1/analytics`: series for charts. */
export const analyticsRoutes = ({
  auth,
  report,
  now,
}: {
  auth: Auth;
  report: ReturnType<typeof createAnalytics>;
  now: () => number;
}) =>
  new Elysia({ tags: ["Search and analytics"] })
    .use(auth)
    .get("/analytics", ({ principal, request }) => report(principal, readAnalyticsQuery(request.url, now())), {
      operation: {
        id: "analytics.retrieve",
        summary: "Retrieve series of runs, tools, errors, costs and durations",
        needs: "read",
        query: analyticsParameters,
        returns: AnalyticsReport,
      },
    });
