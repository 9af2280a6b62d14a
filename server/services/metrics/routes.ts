import { Elysia } from "elysia";
import { AppError } from "../../domain/errors.ts";
import { isForwarded, isLocalClient } from "../../http/https-only.ts";
import { isSameSecret } from "../../lib/same-secret.ts";

interface MetricsRouteOptions {
  /** Client address; null if requests come from memory. */
  clientOf(request: Request): string | null;
  /** True if the request may be DNS rebinding: it names a host that is not this machine. */
  isRebound(request: Request): boolean;
  /** Token for other machines; absent: only this machine may read metrics. */
  token?: string;
  /** Returns the text of all metrics and its media type. */
  read(): { text: string; type: string };
}

/** `GET /metrics` in Prometheus' text format, for this machine and for clients with the operator's token. */
export const metricsRoutes = ({ clientOf, isRebound, token, read }: MetricsRouteOptions) =>
  new Elysia().get("/metrics", ({ request, set }) => {
    const isFromHere = (): boolean => isOfThisMachine(request, clientOf(request)) && !isRebound(request);
    if (!isFromHere() && !(token && isSameSecret(bearerOf(request), token))) throw refusal(token !== undefined);
    const { text, type } = read();
    set.headers["content-type"] = type;
    set.headers["cache-control"] = "no-store";
    return text;
  });

const isOfThisMachine = (request: Request, client: string | null): boolean =>
  (client === null || isLocalClient(client)) && !isForwarded(request);

const bearerOf = (request: Request): string =>
  /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";

const refusal = (hasToken: boolean) =>
  new AppError(
    "metrics_token_required",
    hasToken
      ? "Send RUNNEL_METRICS_TOKEN as a bearer token, or ask from the server's machine by a name of it."
      : "Only the server's machine may read metrics, by a name of it, unless RUNNEL_METRICS_TOKEN is set.",
  );
