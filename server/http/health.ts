import { Elysia } from "elysia";

/**
 * `GET /healthz`: the process responds. `GET /readyz`: 503 with the failed checks if the server cannot work. `facts`
 * are shown beside the checks and never fail.
 */
export const healthRoutes = (checks: Record<string, () => boolean>, facts: () => Record<string, unknown>) =>
  new Elysia()
    .get("/healthz", () => ({ status: "ok" }))
    .get("/readyz", ({ status }) => {
      const results = Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, passes(check)]));
      const ready = Object.values(results).every(Boolean);
      return status(ready ? 200 : 503, { status: ready ? "ready" : "not_ready", checks: results, ...facts() });
    });

function passes(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
