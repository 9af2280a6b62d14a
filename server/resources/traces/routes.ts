import { closeSync, rmSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Diff, OtlpTrace, Trace, TraceSummary } from "../../domain/api-types/trace.ts";
import { capsuleType } from "../../domain/capsule-format.ts";
import { booleanExpected } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { isId, siblingId } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Auth } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { forwardQuery, listQuery, readPage } from "../../http/page.ts";
import { JsonObject, pathOf, pathWith } from "../../http/schemas.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { about, oneOf } from "../../lib/schema.ts";
import type { Capsules } from "./capsule.ts";
import type { ComparisonPage } from "./compare.ts";
import type { ImportBody } from "./import-body.ts";
import type { Imports } from "./imports.ts";
import type { TracePage, TraceStore } from "./store.ts";
import { openUnnamed, piecesOf } from "./workspace.ts";

export interface TraceRoutes {
  auth: Auth;
  traces: TraceStore;
  /** Deletes a run's trace. Throws 404 if there is none. */
  forget(scope: Parameters<TraceStore["get"]>[0], runId: string): Promise<void>;
}

const params = pathWith({ run_id: about("The id of the run.", Type.String()) });
const twoRuns = pathWith({
  id: about("The id.", Type.String()),
  other_id: about("The id of the other run.", Type.String()),
});
const stepsPerPage = 100;
const inclusions = ["raw", "subagents", "prompt"] as const;
const stepQuery = { ...forwardQuery, limit: { ...forwardQuery.limit, default: stepsPerPage } };
const traceQuery = {
  ...stepQuery,
  include: Type.String({
    pattern: "^(raw|subagents|prompt)(,(raw|subagents|prompt))*$",
    description:
      "Comma-separated: `raw`, the journal's entries; `subagents`, the steps of subagent runs; `prompt`, the prompt of each model call.",
  }),
  format: about("`otlp`: as OpenTelemetry has it.", oneOf(["otlp"])),
  content: oneOf(["true", "false"], {
    description: "With `format=otlp`: whether inputs and outputs are included. Default: true.",
  }),
};
type Inclusion = (typeof inclusions)[number];

export const traceRoutes = ({ auth, traces, forget }: TraceRoutes) =>
  new Elysia({ prefix: "/traces", tags: ["Traces"] })
    .use(auth)
    .get("/", ({ principal, request }) => traces.list(principal, readPage(request.url)), {
      operation: {
        id: "traces.list",
        summary: "List traces",
        needs: "read_or_run",
        query: listQuery,
        returns: listOf(TraceSummary),
      },
    })
    .get(
      "/:run_id",
      async ({ principal, params: { run_id }, request }) => {
        const otlp = readOtlp(request.url);
        if (!otlp) return traces.get(principal, runOf(run_id), readTracePage(request.url));
        const body = await traces.otlp(principal, runOf(run_id), otlp.content);
        // A raw response, because OTLP has no field for our request id.
        return new Response(body, { headers: { "content-type": "application/json" } });
      },
      {
        operation: {
          id: "traces.retrieve",
          summary: "Retrieve a trace by its own id or its run's",
          needs: "read_or_run",
          query: traceQuery,
          returns: Type.Union([Trace, OtlpTrace]),
        },
        params,
      },
    )
    .delete(
      "/:run_id",
      async ({ principal, params: { run_id } }) => {
        const id = runOf(run_id);
        await forget(principal, id);
        return { id: siblingId(id, "trace"), object: "trace", deleted: true };
      },
      {
        operation: {
          id: "traces.delete",
          summary: "Delete a run's trace",
          needs: "admin",
          returns: Deleted,
          errors: ["run_not_terminal", "run_pinned"],
        },
        params,
      },
    );

/** Returns the run id for a trace or run id. */
function runOf(id: string): string {
  if (isId("run", id)) return id;
  if (isId("trace", id)) return siblingId(id, "run");
  throw notFound();
}

/** Returns null if the trace is requested in its native format. */
function readOtlp(url: string): { content: boolean } | null {
  const query = new URL(url).searchParams;
  const [format, content] = [query.get("format"), query.get("content")];
  if (format !== null && format !== "otlp") throw invalid("format", "Must be otlp.");
  if (content !== null && (format === null || !/^(true|false)$/.test(content)))
    throw invalid("content", "Must be true or false, together with format=otlp.");
  const page = ["limit", "starting_after", "include"].find((name) => query.has(name));
  if (format && page) throw invalid(page, "Not allowed with format=otlp, which returns the whole trace.");
  return format && { content: content !== "false" };
}

function readTracePage(url: string): TracePage {
  const query = new URL(url).searchParams;
  const include = query.get("include")?.split(",") ?? [];
  query.delete("include");
  if (!include.every((each) => inclusions.includes(each as Inclusion)))
    throw invalid("include", `Must be some of ${inclusions.join(", ")}, separated by commas.`);
  const { limit, starting_after } = readPage(`http://trace/?${query}`);
  return {
    limit: query.has("limit") ? limit : stepsPerPage,
    starting_after,
    raw: include.includes("raw"),
    subagents: include.includes("subagents"),
    prompts: include.includes("prompt"),
  };
}

/** Comparison of two runs. */
export const diffRoutes = ({ auth, traces }: Pick<TraceRoutes, "auth" | "traces">) =>
  new Elysia({ prefix: "/runs", tags: ["Traces"] })
    .use(auth)
    .get(
      "/:id/diff/:other_id",
      ({ principal, params: { id, other_id }, request }) =>
        traces.diff(principal, runId(id), runId(other_id), readComparisonPage(request.url)),
      {
        operation: {
          id: "runs.diff",
          summary: "Compare two runs step by step",
          needs: "read_or_run",
          query: stepQuery,
          returns: Diff,
        },
        params: twoRuns,
      },
    );

function runId(id: string): string {
  if (isId("run", id)) return id;
  throw notFound();
}

/** The cursor is a pair's index instead of an id. */
function readComparisonPage(url: string): ComparisonPage {
  const query = new URL(url).searchParams;
  const { limit, starting_after } = readPage(`http://diff/?${query}`);
  if (starting_after !== null && !/^\d{1,7}$/.test(starting_after))
    throw new AppError("invalid_cursor", "Must be the index of a step of the comparison.", {
      param: "starting_after",
    });
  return {
    limit: query.has("limit") ? limit : stepsPerPage,
    starting_after: starting_after === null ? null : Number(starting_after),
  };
}

/** `GET /v1/runs/:id/capsule`. */
export const capsuleRoutes = ({ auth, capsules }: { auth: Auth; capsules: Capsules }) =>
  new Elysia({ prefix: "/runs", tags: ["Runs"] }).use(auth).get(
    "/:id/capsule",
    async ({ principal, params: { id }, request }) => {
      const path = await capsules.make(principal, id, withContents(request.url), request.signal);
      return new Response(capsuleBody(path, request.signal), {
        headers: {
          "content-type": capsuleType,
          "content-disposition": `attachment; filename="${id}.capsule.sqlite3"`,
          "content-security-policy": "sandbox; default-src 'none'",
          "cache-control": "private, no-store",
        },
      });
    },
    {
      operation: {
        id: "runs.capsule",
        summary: "Download a run with its whole record as one SQLite file",
        needs: "read_or_run",
        query: { files: about("Whether the contents of files are in it.", Type.Boolean({ default: true })) },
        responseHeaders: ["Content-Disposition"],
        media: [capsuleType],
        returns: Type.Unknown(),
      },
      params: pathOf("run"),
    },
  );

function withContents(url: string): boolean {
  const filesParam = new URL(url).searchParams.get("files") ?? "true";
  if (filesParam !== "true" && filesParam !== "false") throw invalid("files", booleanExpected);
  return filesParam === "true";
}

const firstPage = { limit: 100, starting_after: null, raw: false, subagents: false, prompts: false };

/** `POST /v1/traces`: an exported trace as JSON, or a capsule. */
export const importRoutes = ({
  auth,
  traces,
  imports,
  body,
}: {
  auth: Auth;
  traces: TraceStore;
  imports: Imports;
  body: ImportBody;
}) =>
  new Elysia({ prefix: "/traces", tags: ["Traces"] }).use(auth).post(
    "/",
    async ({ principal, body: input, request, status }) => {
      const id = await body.withCapsule(request, (capsule) => imports.take(principal, input, capsule, request.signal));
      return status(201, await traces.get(principal, id, firstPage));
    },
    {
      operation: {
        id: "traces.import",
        summary: "Import an exported trace, or a capsule",
        needs: "run",
        read: body.read,
        binary: capsuleType,
        creates: Trace,
      },
      body: JsonObject,
      afterResponse: ({ request }) => body.discard(request),
    },
  );

/** Streams the file at the client's pace, and deletes it at the end or when the client disconnects. */
function capsuleBody(path: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  const handle = openUnnamed(path);
  const pieces = piecesOf(handle);
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    closeSync(handle);
    rmSync(path, { force: true });
  };
  onAbort([signal], close); // Also if the client disconnects before it reads.
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { value, done } = open ? pieces.next() : { value: undefined, done: true as const };
        if (!done) return controller.enqueue(value);
        close();
        controller.close();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}
