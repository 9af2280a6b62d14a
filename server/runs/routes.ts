import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type RunList, type RunObject, runLists } from "../core/run-object.ts";
import type { Audit } from "../db/audit.ts";
import { type Auth, mayUse, type Viewer } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import { type Claim, claimOf } from "../http/idempotency.ts";
import { longJson } from "../http/long-json.ts";
import { forwardQuery, listQuery, readPage, withoutPages } from "../http/page.ts";
import type { Base } from "../http/part.ts";
import type { Principal } from "../http/principal.ts";
import { readWait, Wait } from "../http/read-wait.ts";
import { pathOf } from "../http/schemas.ts";
import { oneOf } from "../lib/schema.ts";
import { Event } from "../wire/events.ts";
import { runForVisitor } from "../wire/for-visitors.ts";
import { Approval, Run, RunCount, RunExcerpt, RunListItem } from "../wire/run.ts";
import { Deleted, listOf } from "../wire/schema.ts";
import { answerEvents, type EventDeps, Frames, readSlim, requireEvents, Token } from "./events.ts";
import { exportFormat, exportRuns, exportTypes } from "./export.ts";
import { readRunQuery, runFilters, runSort } from "./filters.ts";
import { ForkRun } from "./fork-schema.ts";
import type { NewRun } from "./new-runs.ts";
import { ofToken } from "./of-token.ts";
import type { Replays } from "./replay.ts";
import { requireInput } from "./require-input.ts";
import { CancelRun, CreateRun, ReplayRun, SubmitToolOutputs } from "./schema.ts";
import type { RunService } from "./service.ts";
import type { Note, RunStore, ShownRun } from "./store.ts";
import type { Cursor } from "./stream.ts";

interface RunRoutes extends EventDeps {
  auth: Auth;
  audit: Audit;
  service: RunService;
  replays: Replays;
  /** Whether there is such an agent, for whoever asks. */
  hasAgent: (viewer: Viewer, id: string) => boolean;
  /** Ends every stream: the server stops. */
  ending: Base["ending"];
}

const Exclude = Type.String({
  pattern: "^(messages|tool_calls)(,(messages|tool_calls))*$",
  description:
    "What to leave out: `messages`, `tool_calls`, or both. Without both, a long run is as fast to read as a short one.",
});
const included = {
  include: oneOf(["messages"], {
    description: "`messages`: complete runs, with their messages and tool calls. `truncated` names what was cut.",
  }),
};
const approvalFilters = { needs: oneOf(["output", "approval", "reconcile"]) };

export const runRoutes = (deps: RunRoutes) => {
  const { auth, runs, service, replays, hasAgent, openStream, noLongerValid } = deps;
  const params = pathOf("run");
  return new Elysia({ tags: ["Runs"] })
    .use(auth)
    .post(
      "/runs",
      ({ principal, body, request, set }) => {
        const { agent_id, input } = body;
        // A run that was made before is answered again, also when its agent is gone.
        const isKnown = claimOf(request)?.earlier ? mayUse(principal, agent_id) : hasAgent(principal, agent_id);
        if (!isKnown) throw invalid("agent_id", "There is no such agent.");
        requireInput(input, "input");
        return answerNew(deps, principal, request, set, body, (requestId, note) =>
          service.create(principal, ofToken(principal, body), requestId, note),
        );
      },
      {
        operation: {
          id: "runs.create",
          summary: "Start a run",
          needs: "run",
          client: "run",
          visitors: true,
          query: { wait: Wait, frames: Frames },
          responseHeaders: ["Location"],
          bucket: "run_creations_per_minute",
          creates: Run,
          streams: "With `stream: true`: the run's events from the first to the last.",
          errors: ["thread_busy", "model_not_available", "resource_not_found"],
        },
        body: CreateRun,
      },
    )
    .use(listRoutes(deps))
    .get(
      "/runs/:id",
      ({ principal, params: { id }, request, set }) =>
        written(principal, runs.show(principal, id, readExclusions(request.url)), set),
      {
        operation: {
          id: "runs.retrieve",
          summary: "Retrieve a run",
          needs: "read_or_run",
          client: "read",
          visitors: true,
          query: { exclude: Exclude },
          returns: Type.Union([Run, RunExcerpt]),
        },
        params,
      },
    )
    .delete(
      "/runs/:id",
      async ({ principal, params: { id } }) => {
        await runs.remove(principal, id);
        return { id, object: "run", deleted: true };
      },
      {
        operation: {
          id: "runs.delete",
          summary: "Delete a run that has ended",
          needs: "admin",
          returns: Deleted,
          errors: ["run_not_terminal", "run_pinned"],
        },
        params,
      },
    )
    .post(
      "/runs/:id/cancel",
      async ({ principal, params: { id }, body, request, set }) => {
        const claim = claimOf(request);
        if (!claim?.earlier)
          await service.cancel(
            principal,
            id,
            body.reason ?? null,
            byPerson(deps, principal, "cancelled", noteOf(claim)),
          );
        return answerOf(deps, principal, id, claim, set);
      },
      {
        operation: {
          id: "runs.cancel",
          summary: "Cancel a run",
          needs: "run",
          client: "run",
          visitors: true,
          needsRoom: false,
          returns: Run,
          errors: ["run_already_terminal"],
        },
        params,
        body: CancelRun,
      },
    )
    .post(
      "/runs/:id/fork",
      ({ principal, params: { id }, body, request, set }) =>
        answerNew(deps, principal, request, set, body, (requestId, note) =>
          service.fork(principal, id, body, requestId, byPerson(deps, principal, "forked", note)).then(asItIs),
        ),
      {
        operation: {
          id: "runs.fork",
          summary: "Fork a run: continue from one of its steps, with changes",
          needs: "run",
          query: { wait: Wait, frames: Frames },
          responseHeaders: ["Location"],
          bucket: "run_creations_per_minute",
          creates: Run,
          streams: "With `stream: true`: the run's events from the first to the last.",
          errors: ["record_damaged", "model_not_available"],
        },
        params,
        body: ForkRun,
      },
    )
    .post(
      "/runs/:id/replay",
      async ({ principal, params: { id }, body, request, set }) => {
        const claim = claimOf(request);
        const note = byPerson(deps, principal, "replayed", noteOf(claim));
        const run = await (claim?.earlier
          ? runs.showAsOf(principal, claim.earlier)
          : replays.create(principal, id, body, String(set.headers["x-request-id"]), note));
        set.headers.location = `/v1/runs/${run.id}`;
        set.status = 201;
        return written(principal, run, set);
      },
      {
        operation: {
          id: "runs.replay",
          summary: "Replay a run from its record",
          needs: "run",
          bucket: "run_creations_per_minute",
          creates: Run,
          errors: ["run_not_terminal", "record_damaged"],
          responseHeaders: ["Location"],
        },
        params,
        body: ReplayRun,
      },
    )
    .post(
      "/runs/:id/submit_tool_outputs",
      async ({ principal, params: { id }, body, request, set }) => {
        const slim = readSlim(request.url);
        const claim = claimOf(request);
        const before = claim?.earlier
          ? claim.earlier.seq!
          : await service.submit(
              principal,
              id,
              body.tool_outputs,
              byPerson(deps, principal, "answered", noteOf(claim, body)),
            );
        if (body.stream && claim) requireEvents(deps, principal, id);
        if (body.stream)
          return openStream(principal, id, { seq: before, anchor: null, offset: 0 }, request, { noLongerValid, slim });
        return answerOf(deps, principal, id, claim, set);
      },
      {
        operation: {
          id: "runs.submit_tool_outputs",
          summary: "Answer tool calls that a run waits for",
          needs: "run",
          client: "submit",
          needsRoom: false,
          query: { frames: Frames },
          returns: Run,
          streams: "With `stream: true`: the run's new events.",
          errors: ["run_not_awaiting_action", "tool_call_already_resolved", "tool_call_not_found"],
        },
        params,
        body: SubmitToolOutputs,
      },
    )
    .get("/runs/:id/events", ({ principal, params: { id }, request }) => answerEvents(deps, principal, id, request), {
      operation: {
        id: "runs.events.list",
        summary: "List a run's events, or follow them",
        needs: "read_or_run",
        client: "read",
        visitors: true,
        query: { ...forwardQuery, frames: Frames, token: Token },
        returns: listOf(Event),
        streams: "With `Accept: text/event-stream`: the events after `Last-Event-ID` or `starting_after`, to the last.",
        requestHeaders: ["Last-Event-ID"],
        also: { 204: "The reader has received the last event; no more follow." },
      },
      params,
    })
    .get("/approvals", ({ principal, request }) => runs.pending(principal, readPage(request.url, approvalFilters)), {
      operation: {
        id: "approvals.list",
        summary: "List tool calls that wait for an answer",
        needs: "read_or_run",
        query: { ...listQuery, ...approvalFilters },
        returns: listOf(Approval),
      },
    });
};

const listRoutes = ({ auth, runs }: RunRoutes) =>
  new Elysia({ tags: ["Runs"] })
    .use(auth)
    .get("/runs", ({ principal, request }) => listRuns(runs, principal, request), {
      operation: {
        id: "runs.list",
        summary: "List runs",
        needs: "read_or_run",
        client: "read",
        query: { ...listQuery, ...runFilters, ...runSort, ...included },
        returns: listOf(RunListItem),
      },
    })
    .get("/runs/count", ({ principal, request }) => countRuns(runs, principal, request), {
      operation: {
        id: "runs.count",
        summary: "Count runs",
        needs: "read_or_run",
        query: { ...withoutPages, ...runFilters },
        returns: RunCount,
      },
    })
    .get("/runs/export", ({ principal, request }) => exportRuns(runs, principal, request), {
      operation: {
        id: "runs.export",
        summary: "Download all runs of a list, as JSON lines or CSV",
        needs: "read",
        query: { ...withoutPages, ...runFilters, ...exportFormat },
        responseHeaders: ["Content-Disposition"],
        media: Object.values(exportTypes),
        returns: Type.Unknown(),
      },
    });

const start: Cursor = { seq: 0, anchor: null, offset: 0 };

/** Answers with a new run: by its events, or with the run as it is at once or when the wait is over. */
async function answerNew(
  deps: RunRoutes,
  principal: Principal,
  request: Request,
  set: Sent,
  { stream, on_disconnect }: Pick<CreateRun, "stream" | "on_disconnect">,
  make: (requestId: string, note: Note | undefined) => Promise<NewRun<ShownRun>>,
): Promise<Response | RunObject> {
  const { runs, service, openStream, noLongerValid, ending } = deps;
  const wait = readWait(request.url);
  const slim = readSlim(request.url);
  const claim = claimOf(request);
  const run = claim?.earlier
    ? asItIs(await runs.showAsOf(principal, claim.earlier))
    : await make(String(set.headers["x-request-id"]), noteOf(claim, { stream }, wait));
  if (stream && claim) requireEvents(deps, principal, run.id);
  set.headers.location = `/v1/runs/${run.id}`;
  if (stream)
    return openStream(principal, run.id, start, request, {
      ...{ noLongerValid, slim, cancelOnLeave: on_disconnect === "cancel" },
    });
  set.status = 201;
  if (wait === 0 || typeof claim?.earlier?.seq === "number") return written(principal, run.shown(), set);
  await service.settled(run.id, wait * 1000, [ending(principal.project_id), request.signal]);
  // Whoever hung up was answered nothing: the same request waits on for the same run.
  if (!request.signal.aborted) await claim?.keepNow(runs.standing(principal, run.id));
  return answerOf(deps, principal, run.id, claim, set);
}

const asItIs = (run: ShownRun): NewRun<ShownRun> => ({ id: run.id, shown: () => run });

/** Keeps, with the run's own entries, what a request with a key is answered with. */
function noteOf(claim: Claim | undefined, { stream = false } = {}, wait = 0): Note | undefined {
  if (!claim) return undefined;
  return (row, before) => claim.keep(stream ? { ...row, seq: before } : wait > 0 ? { ...row, seq: null } : row);
}

/** Notes, with the run's own entries, what a person did to it; what keys do stands in the journal alone. */
function byPerson({ audit }: RunRoutes, principal: Principal, done: string, note: Note | undefined): Note | undefined {
  if (principal.kind === "key") return note;
  return (row, before) => {
    note?.(row, before);
    const { id, agent_id, seq } = row;
    if (seq === before) return; // It was so already.
    audit.note({ ...row, actor: principal.actor }, `run.${done}`, id, { agent_id });
  };
}

/** The run: as it is now, or for a request with a key as it will be answered again. */
const answerOf = ({ runs }: RunRoutes, principal: Principal, id: string, claim: Claim | undefined, set: Sent) =>
  written(principal, claim ? runs.showAsOf(principal, claim.kept()) : runs.show(principal, id), set);

/** What a response is sent with. */
interface Sent {
  status?: number | string;
  headers: Record<string, string | number | undefined>;
}

/** The body of a response: a long run is written in slices, and a visitor gets what was said. */
function written(
  principal: Principal,
  run: ShownRun | Promise<ShownRun>,
  set: Sent,
): RunObject | Promise<RunObject | Response> {
  if (run instanceof Promise) return run.then((shown) => written(principal, shown, set));
  if (principal.token?.is_visitor) return runForVisitor("lists" in run ? (run.fields as RunObject) : run);
  if (!("lists" in run)) return run;
  return longJson(run, { status: Number(set.status ?? 200), headers: set.headers }) as Promise<Response>;
}

function readExclusions(url: string): RunList[] {
  if (!url.includes("?")) return [];
  const [text, ...more] = new URL(url).searchParams.getAll("exclude");
  const lists = text?.split(",") ?? [];
  if (more.length > 0 || !lists.every((list): list is RunList => runLists.includes(list as RunList)))
    throw invalid("exclude", `Expected any of ${runLists.join(", ")}, separated by commas.`);
  return lists as RunList[];
}

function listRuns(runs: RunStore, principal: Principal, { url, signal }: Request) {
  const { page, ...more } = readRunQuery(url, principal, { ...runSort, ...included });
  const { include, ...filters } = page.filters;
  return runs.list(principal, { ...page, filters }, { ...more, messages: include === "messages", signal });
}

// Nobody reads a larger number, and to count further takes longer.
const countedMost = 10_000;

async function countRuns(runs: RunStore, principal: Principal, { url, signal }: Request) {
  const count = await runs.counted(principal, { ...readRunQuery(url, principal), signal }, countedMost + 1);
  return { object: "run_count" as const, count: Math.min(count, countedMost), is_more: count > countedMost };
}
