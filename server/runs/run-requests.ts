import { type RunList, type RunObject, runLists } from "../core/run-object.ts";
import type { Audit } from "../db/audit.ts";
import { mayUse, type Viewer } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import { type Claim, claimOf } from "../http/idempotency.ts";
import { longJson } from "../http/long-json.ts";
import type { Base } from "../http/part.ts";
import type { Principal } from "../http/principal.ts";
import { queryOf } from "../http/query-of.ts";
import { readWait } from "../http/read-wait.ts";
import { runForVisitor } from "../wire/for-visitors.ts";
import { type EventDeps, readSlim, requireEvents } from "./events.ts";
import type { ForkRun } from "./fork-schema.ts";
import type { NewRun } from "./new-runs.ts";
import { ofToken } from "./of-token.ts";
import type { Replays } from "./replay.ts";
import { requireInput } from "./require-input.ts";
import type { CreateRun, ReplayRun, SubmitToolOutputs } from "./schema.ts";
import type { RunService } from "./service.ts";
import type { Note, ShownRun } from "./store.ts";

export interface RunRequestDeps extends EventDeps {
  audit: Audit;
  service: RunService;
  replays: Replays;
  /** Whether there is such an agent, for whoever asks. */
  hasAgent: (viewer: Viewer, id: string) => boolean;
  /** Ends every stream: the server stops. */
  ending: Base["ending"];
}

/** Who asks, and what the answer is sent with. */
interface Asked {
  principal: Principal;
  request: Request;
  set: Sent;
}

interface Sent {
  status?: number | string;
  headers: Record<string, string | number | undefined>;
}

/** What clients ask of runs, and what they are answered: again the same to the same request, where it has a key. */
export function createRunRequests(deps: RunRequestDeps) {
  const { runs, service, replays, audit, hasAgent, openStream, noLongerValid, ending } = deps;

  /** Answers with a new run: by its events, or with the run as it is at once or when the wait is over. */
  async function answerNew(
    asked: Asked,
    { stream, on_disconnect }: Pick<CreateRun, "stream" | "on_disconnect">,
    make: (requestId: string, note: Note | undefined) => Promise<NewRun<ShownRun>>,
  ): Promise<Response | RunObject> {
    const { principal, request, set } = asked;
    const wait = readWait(request.url);
    const slim = readSlim(request.url);
    const claim = claimOf(request);
    const run = claim?.earlier
      ? asItIs(await runs.showAsOf(principal, claim.earlier))
      : await make(requestIdOf(set), noteOf(claim, { stream }, wait));
    if (stream && claim) requireEvents(deps, principal, run.id);
    set.headers.location = `/v1/runs/${run.id}`;
    if (stream) return follow(asked, run.id, 0, { slim, cancelOnLeave: on_disconnect === "cancel" });
    set.status = 201;
    if (wait === 0 || typeof claim?.earlier?.seq === "number") return written(principal, run.shown(), set);
    await service.settled(run.id, wait * 1000, [ending(principal.project_id), request.signal]);
    // Whoever hung up was answered nothing: the same request waits on for the same run.
    if (!request.signal.aborted) await claim?.keepNow(runs.standing(principal, run.id));
    return answerOf(asked, run.id, claim);
  }

  const follow = (
    { principal, request }: Asked,
    id: string,
    seq: number,
    more: { slim: boolean; cancelOnLeave?: boolean },
  ) => openStream(principal, id, { seq, anchor: null, offset: 0 }, request, { noLongerValid, ...more });

  /** The run: as it is now, or for a request with a key as it will be answered again. */
  const answerOf = ({ principal, set }: Asked, id: string, claim: Claim | undefined) =>
    written(principal, claim ? runs.showAsOf(principal, claim.kept()) : runs.show(principal, id), set);

  /** Notes, with the run's own entries, what a person did to it; what keys do stands in the journal alone. */
  function byPerson({ principal }: Asked, done: string, note: Note | undefined): Note | undefined {
    if (principal.kind === "key") return note;
    return (row, before) => {
      note?.(row, before);
      const { id, agent_id, seq } = row;
      if (seq === before) return; // It was so already.
      audit.note({ ...row, actor: principal.actor }, `run.${done}`, id, { agent_id });
    };
  }

  return {
    create(asked: Asked, body: CreateRun) {
      const { principal, request } = asked;
      const { agent_id, input } = body;
      // A run that was made before is answered again, also when its agent is gone.
      const isKnown = claimOf(request)?.earlier ? mayUse(principal, agent_id) : hasAgent(principal, agent_id);
      if (!isKnown) throw invalid("agent_id", "There is no such agent.");
      requireInput(input, "input");
      return answerNew(asked, body, (requestId, note) =>
        service.create(principal, ofToken(principal, body), requestId, note),
      );
    },
    fork: (asked: Asked, id: string, body: ForkRun) =>
      answerNew(asked, body, (requestId, note) =>
        service.fork(asked.principal, id, body, requestId, byPerson(asked, "forked", note)).then(asItIs),
      ),
    async replay(asked: Asked, id: string, body: ReplayRun) {
      const { principal, request, set } = asked;
      const claim = claimOf(request);
      const run = await (claim?.earlier
        ? runs.showAsOf(principal, claim.earlier)
        : replays.create(principal, id, body, requestIdOf(set), byPerson(asked, "replayed", noteOf(claim))));
      set.headers.location = `/v1/runs/${run.id}`;
      set.status = 201;
      return written(principal, run, set);
    },
    show: ({ principal, request, set }: Asked, id: string) =>
      written(principal, runs.show(principal, id, readExclusions(request.url)), set),
    async cancel(asked: Asked, id: string, { reason }: { reason?: string }) {
      const claim = claimOf(asked.request);
      if (!claim?.earlier)
        await service.cancel(asked.principal, id, reason ?? null, byPerson(asked, "cancelled", noteOf(claim)));
      return answerOf(asked, id, claim);
    },
    async submit(asked: Asked, id: string, body: SubmitToolOutputs) {
      const { principal, request } = asked;
      const slim = readSlim(request.url);
      const claim = claimOf(request);
      const note = noteOf(claim, body);
      // Each decision has an entry of its own, whoever makes it.
      const isAnswer = body.tool_outputs.some(({ decision }) => decision === undefined);
      const before = claim?.earlier
        ? claim.earlier.seq!
        : await service.submit(principal, id, body.tool_outputs, isAnswer ? byPerson(asked, "answered", note) : note);
      if (body.stream && claim) requireEvents(deps, principal, id);
      return body.stream ? follow(asked, id, before, { slim }) : answerOf(asked, id, claim);
    },
  };
}

const requestIdOf = ({ headers }: Sent): string => String(headers["x-request-id"]);

const asItIs = (run: ShownRun): NewRun<ShownRun> => ({ id: run.id, shown: () => run });

/** Keeps, with the run's own entries, what a request with a key is answered with. */
function noteOf(claim: Claim | undefined, { stream = false } = {}, wait = 0): Note | undefined {
  if (!claim) return undefined;
  return (row, before) => claim.keep(stream ? { ...row, seq: before } : wait > 0 ? { ...row, seq: null } : row);
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
  const [text, ...more] = queryOf(url).getAll("exclude");
  const lists = text?.split(",") ?? [];
  if (more.length > 0 || !lists.every((list): list is RunList => runLists.includes(list as RunList)))
    throw invalid("exclude", `Expected any of ${runLists.join(", ")}, separated by commas.`);
  return lists as RunList[];
}
