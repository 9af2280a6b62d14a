import type { AgentChoice } from "../../domain/agent-label.ts";
import { runForVisitor } from "../../domain/api-types/redact-for-visitors.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { isId } from "../../domain/ids.ts";
import { type AuthorizationLink, withAuthorizationLinks } from "../../domain/required-action.ts";
import { type RunList, type RunObject, runLists } from "../../domain/run-object.ts";
import { mayUse } from "../../http/auth.ts";
import { cachedQuery } from "../../http/cached-query.ts";
import { invalid } from "../../http/errors.ts";
import { type Claim, claimOf } from "../../http/idempotency.ts";
import { jsonStream } from "../../http/json-stream.ts";
import type { Base } from "../../http/module.ts";
import { plainContent, plainInput } from "../../http/plain-input.ts";
import type { Principal } from "../../http/principal.ts";
import { readWaitParam } from "../../http/wait-param.ts";
import type { AgentResolver } from "../../resources/labels/module.ts";
import type { Audit } from "../../storage/db/audit.ts";
import type { ForkRun } from "../fork/fork-schema.ts";
import type { Replays } from "../replay/replay.ts";
import type { CreateRun, ReplayRun, SteerRun, SubmitToolOutputs } from "../schema.ts";
import type { RunService } from "../service.ts";
import type { Note, ShownRun } from "../store.ts";
import { type EventDeps, readSlim, requireEvents } from "../stream/events.ts";
import { applyTokenRules, requireTokenContent, tokenChoice } from "./client-token-rules.ts";
import type { NewRun } from "./new-runs.ts";
import { requireInput } from "./require-input.ts";

export interface RunRequestDeps extends EventDeps {
  audit: Audit;
  service: RunService;
  replays: Replays;
  /** Returns the agent that a request names. Throws if there is none that the viewer may use. */
  resolveAgent: AgentResolver["resolve"];
  /** Signal that ends every stream when the server stops. */
  ending: Base["abortSignalOf"];
}

/** The caller's request and the response to fill. */
interface RequestContext {
  principal: Principal;
  request: Request;
  set: ResponseHead;
}

interface ResponseHead {
  status?: number | string;
  headers: Record<string, string | number | undefined>;
}

/** Handlers of the run routes. A repeated Idempotency-Key gets the stored response. */
export function createRunRequests(deps: RunRequestDeps) {
  const { runs, service, replays, audit, resolveAgent, links, openStream, noLongerValid, ending } = deps;

  /** Responds with a new run: as an event stream, or as an object at once or after `?wait=`. */
  async function answerNew(
    context: RequestContext,
    { stream, on_disconnect }: Pick<CreateRun, "stream" | "on_disconnect">,
    make: (requestId: string, note: Note | undefined) => Promise<NewRun<ShownRun>>,
  ): Promise<Response | RunObject> {
    const { principal, request, set } = context;
    const wait = readWaitParam(request.url);
    const slim = readSlim(request.url);
    const claim = claimOf(request);
    const run = claim?.previous
      ? toNewRun(await runs.showAsOf(principal, claim.previous))
      : await make(requestIdOf(set), noteOf(claim, { stream }, wait));
    if (stream && claim) requireEvents(deps, principal, run.id);
    set.headers.location = `/v1/runs/${run.id}`;
    const from = run.from ?? claim?.previous?.seq ?? 0;
    if (stream) return follow(context, run.id, from, { slim, cancelOnLeave: on_disconnect === "cancel" && from === 0 });
    set.status = 201;
    if (wait === 0 || typeof claim?.previous?.seq === "number") return serializeRun(principal, run.shown(), set);
    await service.settled(run.id, wait * 1000, [ending(principal.project_id), request.signal]);
    // If the client disconnected, store no response: its retry must wait for the same run.
    if (!request.signal.aborted) await claim?.saveNow(runs.standing(principal, run.id));
    return answerOf(context, run.id, claim);
  }

  const follow = (
    { principal, request }: RequestContext,
    id: string,
    seq: number,
    options: { slim: boolean; cancelOnLeave?: boolean },
  ) => openStream(principal, id, { seq, anchor: null, offset: 0 }, request, { noLongerValid, ...options });

  /** Returns the run: its current state, or for an Idempotency-Key its stored state. */
  const answerOf = ({ principal, set }: RequestContext, id: string, claim: Claim | undefined) =>
    serializeRun(principal, claim ? runs.showAsOf(principal, claim.savedAnswer()) : runs.show(principal, id), set);

  /** Writes an audit entry with the run's own entries if a person acts; the journal alone covers what keys do. */
  function byPerson({ principal }: RequestContext, action: string, note: Note | undefined): Note | undefined {
    if (principal.kind === "key") return note;
    return (row, before) => {
      note?.(row, before);
      const { id, agent_id, seq } = row;
      if (seq === before) return; // Nothing changed.
      audit.note({ ...row, actor: principal.actor }, `run.${action}`, id, { agent_id });
    };
  }

  function serializeRun(
    principal: Principal,
    run: ShownRun | Promise<ShownRun>,
    set: ResponseHead,
  ): RunObject | Promise<RunObject | Response> {
    if (run instanceof Promise) return run.then((shown) => serializeRun(principal, shown, set));
    const link = links.of(principal);
    return serializeShown(principal, link ? withLinks(run, link) : run, set);
  }

  /** A run that was created earlier is returned again, even if its agent, the version or the label is gone. */
  function choiceOf(principal: Principal, body: CreateRun, isRepeated: boolean): AgentChoice {
    const { agent_id, version, label } = body;
    if (!isRepeated) return resolveAgent(principal, { agent_id, version, label });
    if (isId("agent", agent_id) && !mayUse(principal, agent_id)) throw invalid("agent_id", noSuch("agent"));
    return { agent_id, version: version ?? null, label: label ?? null };
  }

  return {
    create(asked: RequestContext, body: CreateRun) {
      const { principal, request } = asked;
      const input = plainInput(body.input);
      const choice = choiceOf(principal, body, claimOf(request)?.previous != null);
      requireInput(input, "input");
      return answerNew(asked, body, (requestId, note) =>
        service.create(
          principal,
          { ...applyTokenRules(principal, { ...body, input }), ...chosenFields(tokenChoice(principal, choice)) },
          requestId,
          note,
        ),
      );
    },
    fork: (asked: RequestContext, id: string, body: ForkRun) =>
      answerNew(asked, body, (requestId, note) =>
        service.fork(asked.principal, id, body, requestId, byPerson(asked, "forked", note)).then(toNewRun),
      ),
    async replay(asked: RequestContext, id: string, body: ReplayRun) {
      const { principal, request, set } = asked;
      const claim = claimOf(request);
      const run = await (claim?.previous
        ? runs.showAsOf(principal, claim.previous)
        : replays.create(principal, id, body, requestIdOf(set), byPerson(asked, "replayed", noteOf(claim))));
      set.headers.location = `/v1/runs/${run.id}`;
      set.status = 201;
      return serializeRun(principal, run, set);
    },
    show: ({ principal, request, set }: RequestContext, id: string) =>
      serializeRun(principal, runs.show(principal, id, readExclusions(request.url)), set),
    async cancel(asked: RequestContext, id: string, { reason }: { reason?: string }) {
      const claim = claimOf(asked.request);
      if (!claim?.previous)
        await service.cancel(asked.principal, id, reason ?? null, byPerson(asked, "cancelled", noteOf(claim)));
      return answerOf(asked, id, claim);
    },
    async pause(asked: RequestContext, id: string, { reason }: { reason?: string }) {
      const claim = claimOf(asked.request);
      if (!claim?.previous)
        await service.pause(asked.principal, id, reason ?? null, byPerson(asked, "paused", noteOf(claim)));
      return answerOf(asked, id, claim);
    },
    async resume(asked: RequestContext, id: string) {
      const claim = claimOf(asked.request);
      if (!claim?.previous) await service.resume(asked.principal, id, byPerson(asked, "resumed", noteOf(claim)));
      return answerOf(asked, id, claim);
    },
    async steer(asked: RequestContext, id: string, body: SteerRun) {
      const { principal, request } = asked;
      const claim = claimOf(request);
      requireTokenContent(principal, body.content, "content");
      if (!claim?.previous)
        await service.steer(
          principal,
          id,
          { ...body, content: plainContent(body.content) },
          byPerson(asked, "steered", noteOf(claim)),
        );
      return answerOf(asked, id, claim);
    },
    async submit(asked: RequestContext, id: string, body: SubmitToolOutputs) {
      const { principal, request } = asked;
      const slim = readSlim(request.url);
      const claim = claimOf(request);
      const note = noteOf(claim, body);
      // Each decision has its own audit entry, made with the decision.
      const isAnswer = body.tool_outputs.some(({ decision }) => decision === undefined);
      const before = claim?.previous
        ? claim.previous.seq!
        : await service.submit(principal, id, body.tool_outputs, isAnswer ? byPerson(asked, "answered", note) : note);
      if (body.stream && claim) requireEvents(deps, principal, id);
      return body.stream ? follow(asked, id, before, { slim }) : answerOf(asked, id, claim);
    },
  };
}

const requestIdOf = ({ headers }: ResponseHead): string => String(headers["x-request-id"]);

const chosenFields = ({
  agent_id,
  version,
  label,
}: AgentChoice): Pick<CreateRun, "agent_id" | "version" | "label"> => ({
  agent_id,
  ...(version !== null && { version }),
  ...(label !== null && { label }),
});

const toNewRun = (run: ShownRun): NewRun<ShownRun> => ({ id: run.id, shown: () => run });

/** Stores the response of a request with an Idempotency-Key, in the write of the run's own entries. */
function noteOf(claim: Claim | undefined, { stream = false } = {}, wait = 0): Note | undefined {
  if (!claim) return undefined;
  return (row, before) => claim.save(stream ? { ...row, seq: before } : wait > 0 ? { ...row, seq: null } : row);
}

/** Returns the response body. A long run is serialized in slices; a visitor gets a redacted run. */
function serializeShown(
  principal: Principal,
  run: ShownRun,
  set: ResponseHead,
): RunObject | Promise<RunObject | Response> {
  if (principal.token?.is_visitor) return runForVisitor("lists" in run ? (run.fields as RunObject) : run);
  const shown = principal.token ? withoutVariables(run) : run;
  if (!("lists" in shown)) return shown;
  return jsonStream(shown, { status: Number(set.status ?? 200), headers: set.headers }) as Promise<Response>;
}

/** Adds the addresses at which the run's user consents, which are made for each reader. */
function withLinks(run: ShownRun, link: AuthorizationLink): ShownRun {
  const fields = "lists" in run ? (run.fields as RunObject) : run;
  if (!fields.required_action?.authorizations) return run;
  const required_action = withAuthorizationLinks(fields.required_action, run.id, link);
  return "lists" in run ? { ...run, fields: { ...fields, required_action } } : { ...run, required_action };
}

/** Values of variables are the project's: the holder of a client token does not see them. */
function withoutVariables(run: ShownRun): ShownRun {
  if ("lists" in run) {
    const { variables: _, ...fields } = run.fields as RunObject;
    return { ...run, fields };
  }
  if (!run.variables) return run;
  const { variables: _, ...rest } = run;
  return rest;
}

function readExclusions(url: string): RunList[] {
  if (!url.includes("?")) return [];
  const [text, ...repeated] = cachedQuery(url).getAll("exclude");
  const lists = text?.split(",") ?? [];
  if (repeated.length > 0 || !lists.every((list): list is RunList => runLists.includes(list as RunList)))
    throw invalid("exclude", `Must be some of ${runLists.join(", ")}, separated by commas.`);
  return lists as RunList[];
}
