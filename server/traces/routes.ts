import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { isId, siblingId } from "../core/ids.ts";
import type { Auth } from "../http/auth.ts";
import { fault, validationError } from "../http/errors.ts";
import { notFound } from "../http/not-found.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { pathWith } from "../http/schemas.ts";
import type { TracePage, TraceStore } from "./store.ts";

export interface TraceRoutes {
  auth: Auth;
  traces: TraceStore;
  /** Deletes what the journal tells of a run; 404 when there is no such trace. */
  forget(scope: Parameters<TraceStore["get"]>[0], runId: string): Promise<void>;
}

const params = pathWith({ run_id: Type.String() });
const stepsPerPage = 100;

export const traceRoutes = ({ auth, traces, forget }: TraceRoutes) =>
  new Elysia({ prefix: "/traces" })
    .use(auth)
    .get("/", ({ principal, request }) => traces.list(principal, readPage(request.url)), {
      permission: { needs: "read_or_run", query: pageParameters },
    })
    .get(
      "/:run_id",
      ({ principal, params: { run_id }, request }) => traces.get(principal, runOf(run_id), readTracePage(request.url)),
      { permission: { needs: "read_or_run", query: ["limit", "starting_after", "include"] }, params },
    )
    .delete(
      "/:run_id",
      async ({ principal, params: { run_id } }) => {
        const id = runOf(run_id);
        await forget(principal, id);
        return { id: siblingId(id, "trace"), object: "trace", deleted: true };
      },
      { permission: "admin", params },
    );

/** A trace is addressed by its own id or by its run's. */
function runOf(id: string): string {
  if (isId("run", id)) return id;
  if (isId("trace", id)) return siblingId(id, "run");
  throw notFound();
}

function readTracePage(url: string): TracePage {
  const query = new URL(url).searchParams;
  const include = query.get("include")?.split(",") ?? [];
  query.delete("include");
  if (!include.every((each) => each === "raw" || each === "subagents"))
    throw validationError([fault("include", "Expected raw, subagents, or both with a comma between them.")]);
  const { limit, starting_after } = readPage(`http://trace/?${query}`);
  return {
    limit: query.has("limit") ? limit : stepsPerPage,
    starting_after,
    raw: include.includes("raw"),
    subagents: include.includes("subagents"),
  };
}
