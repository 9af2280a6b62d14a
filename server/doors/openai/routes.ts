import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Elysia } from "elysia";
import type { AgentStore } from "../../agents/store.ts";
import { AppError } from "../../core/errors.ts";
import type { ModelAnswer } from "../../core/run-event.ts";
import type { ToolAnswer } from "../../core/submit.ts";
import { ofAgents } from "../../http/auth.ts";
import { errorHeaders, fault, toAppError, validationError } from "../../http/errors.ts";
import { readJsonBody } from "../../http/json-body.ts";
import { declared } from "../../http/operation.ts";
import type { Page } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import type { ApiAnswer, DoorAccess } from "../../http/within.ts";
import type { Journal } from "../../journal/journal.ts";
import { dotted } from "../../lib/json-schema.ts";
import type { OpenStream } from "../../runs/open-stream.ts";
import type { RunStore } from "../../runs/store.ts";
import { chatDialect } from "./chat-dialect.ts";
import { readChat } from "./chat-request.ts";
import { CreateChatCompletion } from "./chat-schema.ts";
import { ofMessages, openAiError, stopping } from "./errors.ts";

interface Deps extends DoorAccess {
  agents: Pick<AgentStore, "list" | "get" | "has">;
  runs: Pick<RunStore, "askedBy">;
  journal: Pick<Journal, "read">;
  openStream: OpenStream;
}

const check = TypeCompiler.Compile(CreateChatCompletion);

type Headers_ = Record<string, unknown>;

/** OpenAI's API as far as runs carry it. Whatever is done is done by the API, with its key and its rules. */
export function openAiRoutes({ identify, noLongerValid, api, agents, runs, journal, openStream }: Deps) {
  async function guarded(
    request: Request,
    headers: Headers_,
    work: (principal: Principal) => Promise<Response> | Response,
  ): Promise<Response> {
    try {
      // Each request is a read; what it asks of the API is counted there.
      return await work(identify(request, headers, "reads_per_minute"));
    } catch (thrown) {
      if (thrown instanceof Refused) return thrown.response;
      const error = toAppError(thrown);
      if (error.code === "internal_error") throw thrown; // A bug: the log shall have its cause.
      return json(error.status, openAiError(error), errorHeaders(error));
    }
  }

  /** Asks the API for what has to be there. */
  async function must(request: Request, path: string, body: object) {
    const answer = await api(request, "POST", path, body);
    if (answer.status >= 400) throw thrownAs(answer);
    return answer.body;
  }

  async function completion(request: Request, principal: Principal): Promise<Response> {
    const body = read(await readJsonBody(request));
    if (!agents.has(principal, body.model)) throw noModel(body.model);
    const asked = readChat(body);
    const place = await (asked.do === "create"
      ? create(request, asked.run, asked.places)
      : submit(request, principal, asked.answers, asked.places));
    const { run_id, seq } = place;
    const stream = body.stream === true;
    const dialect = chatDialect({
      ...{ id: `chatcmpl-${run_id.slice(run_id.indexOf("_") + 1)}`, model: body.model, stream },
      created: Math.floor(timeOf(journal, run_id) / 1000),
      usage: body.stream_options?.include_usage === true,
      answerAt: (at) => answerAt(journal, run_id, at),
    });
    const from = { seq, anchor: null, offset: 0 };
    // There is no way back to a completion: who leaves its stream has stopped it.
    const response = openStream(principal, run_id, from, request, { noLongerValid, dialect, cancelOnLeave: stream });
    response.headers.set("x-runnel-run-id", run_id);
    if (stream) return response;
    await response.text();
    const result = dialect.result();
    const named = { "x-runnel-run-id": run_id };
    if (!result) throw stopping();
    if ("completion" in result) return json(200, result.completion, named);
    return json(result.failed.status, result.failed.body, { ...named, "x-should-retry": "false" });
  }

  async function create(request: Request, run: object, places: readonly number[]) {
    const made = await must(request, "/v1/runs", run).catch((error) => {
      throw ofMessages(error, places);
    });
    return { run_id: String(made.id), seq: 0 };
  }

  /** Results go to the run that asked for them; the same results again lead to what came of them. */
  async function submit(
    request: Request,
    principal: Principal,
    answers: readonly ToolAnswer[],
    places: readonly number[],
  ) {
    const asking = answers.map(({ tool_call_id }) => runs.askedBy(principal, tool_call_id));
    const [run_id] = asking;
    const unknown = asking.findIndex((one) => one === null || one !== run_id);
    if (!run_id || unknown !== -1) throw noCall(places[Math.max(0, unknown)]!);
    await must(request, `/v1/runs/${run_id}/submit_tool_outputs`, { tool_outputs: answers }).catch((error) => {
      // They were given before: what came of them is told once more.
      if (!(error instanceof AppError && error.code === "run_not_awaiting_action")) throw error;
    });
    return { run_id, seq: firstResult(journal, run_id, new Set(answers.map((answer) => answer.tool_call_id))) - 1 };
  }

  async function models(principal: Principal): Promise<Response> {
    requireUse(principal);
    const found: object[] = [];
    for (let starting_after: string | null = null; ; ) {
      const list = await agents.list(principal, { ...firstPage, starting_after }, ofAgents(principal, "id"));
      found.push(...list.data.map(modelOf));
      if (!list.has_more) return json(200, { object: "list", data: found });
      starting_after = list.last_id;
    }
  }

  function model(principal: Principal, id: string): Response {
    requireUse(principal);
    if (!agents.has(principal, id)) throw noModel(id);
    return json(200, modelOf(agents.get(principal, id)));
  }

  return new Elysia({ prefix: "/openai/v1" })
    .get("/models", ({ request, set }) => guarded(request, set.headers, models))
    .get("/models/:id", ({ request, set, params }) =>
      guarded(request, set.headers, (principal) => model(principal, params.id)),
    )
    .post(
      "/chat/completions",
      ({ request, set }) => guarded(request, set.headers, (principal) => completion(request, principal)),
      { parse: "none", ...declared({ needsRoom: false }) },
    );
}

const firstPage: Page = {
  ...{ limit: 100, order: "desc", starting_after: null, ending_before: null },
  ...{ created_at: [], metadata: [], filters: {} },
};

/** Throws where a key may neither read nor run. */
function requireUse({ scopes }: Principal): void {
  if (!(["read", "run", "admin"] as const).some((scope) => scopes.has(scope)))
    throw new AppError("insufficient_scope", 'This needs the scope "read".');
}

function read(body: unknown): CreateChatCompletion {
  if (check.Check(body)) return body;
  const first = check.Errors(body).First();
  throw validationError([fault(dotted(first?.path ?? ""), `${first?.message ?? "This is no request"}.`)]);
}

const modelOf = ({ id, created_at }: { id: string; created_at: string }) => ({
  ...{ id, object: "model", created: Math.floor(Date.parse(created_at) / 1000), owned_by: "runnel" },
});

const noModel = (model: string) =>
  new AppError(
    "resource_not_found",
    `The model "${model.slice(0, 100)}" does not exist: expected the id of an agent.`,
    {
      param: "model",
    },
  );

const noCall = (place: number) =>
  new AppError("tool_call_not_found", "No run has asked for this call.", { param: `messages[${place}].tool_call_id` });

class Refused extends Error {
  constructor(readonly response: Response) {
    super("The API refused what the door asked of it.");
  }
}

/** What the API refused, as it is thrown here. */
function thrownAs({ status, body, headers }: ApiAnswer): Error {
  const { error } = body;
  if (status < 500) {
    const retryAfter = headers.get("retry-after");
    return new AppError(error.code, error.message, {
      ...(error.param && { param: error.param }),
      ...(retryAfter && { retryAfter: Number(retryAfter) }),
    });
  }
  const { message, type, param, code } = error;
  return new Refused(json(status, { error: { message, type, param, code } }));
}

const json = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

/** What the model said in the step that this entry ends. */
function answerAt(journal: Pick<Journal, "read">, runId: string, seq: number): ModelAnswer | null {
  const [entry] = journal.read(runId, seq - 1, 1);
  return entry?.event.type === "step.completed" ? entry.event.answer : null;
}

const timeOf = (journal: Pick<Journal, "read">, runId: string): number => journal.read(runId, 0, 1)[0]?.at ?? 0;

/** Where the first result of these calls stands. */
function firstResult(journal: Pick<Journal, "read">, runId: string, calls: ReadonlySet<string>): number {
  const found = journal
    .read(runId, 0)
    .find(({ event }) => event.type === "tool.completed" && calls.has(event.tool_call_id));
  return found?.seq ?? 1;
}
