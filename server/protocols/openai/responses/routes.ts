import { Elysia } from "elysia";
import { noSuch } from "../../../domain/error-messages.ts";
import { AppError } from "../../../domain/errors.ts";
import { invalid } from "../../../http/errors.ts";
import type { ProtocolAccess } from "../../../http/internal-client.ts";
import { readJsonBody } from "../../../http/json-body.ts";
import { withDeclaration } from "../../../http/operation.ts";
import type { Principal } from "../../../http/principal.ts";
import { requireValue } from "../../../lib/require-value.ts";
import type { CreateRun } from "../../../runs/schema.ts";
import type { RunStore } from "../../../runs/store.ts";
import type { OpenSseResponse } from "../../../runs/stream/sse-response.ts";
import { isQuestionOpen, openQuestion } from "../../busy-thread.ts";
import { createApiCalls, json, noRetry, readerOf } from "../api-calls.ts";
import { failedRun, ofMessages } from "../errors.ts";
import { type ResponsePosition, responseId } from "../item-ids.ts";
import { itemPage } from "../item-page.ts";
import { CreateResponse } from "../item-schema.ts";
import { type Conversation, conversationOf } from "../items.ts";
import { lastQuestionSeq } from "../journal-places.ts";
import { createModels, type ModelDeps } from "../models.ts";
import { askingRunOf, handOver, type Results, submitResults, userLast } from "../results.ts";
import { wholeRunEncoder } from "../whole.ts";
import { lastNumber } from "./dialect.ts";
import { readResponse, resultsIn, withoutRoom } from "./request.ts";
import { createResponses, type ResponsesOptions } from "./responses.ts";

interface Deps extends ProtocolAccess, ResponsesOptions, ModelDeps {
  runs: RunStore;
  openStream: OpenSseResponse;
}

const read = readerOf(CreateResponse);

/** Responses: each is a run, or the part of one between two questions to its client. */
export function responseRoutes(deps: Deps) {
  const { noLongerValid, previousRunId, agents, runs, journal, openStream } = deps;
  const { guarded, must } = createApiCalls(deps);
  const responses = createResponses(deps);
  const models = createModels({ ...deps, must });

  async function create(request: Request, principal: Principal): Promise<Response> {
    const parsedBody = read(await readJsonBody(request));
    const { id: model, reference } = await models.agentOf(request, principal, parsedBody.model);
    const body = { ...parsedBody, model };
    const responseRequest = readResponse(body);
    const results = resultsIn(responseRequest.entries);
    const askingRun = results && askingRunOf(runs, principal, results, (place) => `input[${place}].call_id`);
    const isOther = askingRun !== null && askingRun.agent_id !== body.model;
    const position =
      askingRun && !isOther
        ? await submit(request, principal, askingRun.id, requireValue(results, "The results"), body)
        : await begin(request, principal, { ...responseRequest, reference }, body, askingRun?.id ?? null);
    const isBackground = body.background === true;
    if (body.stream) return streamed(request, principal, position, null, !isBackground);
    if (isBackground) return responseJson(position);
    const dialect = responses.dialectOf(position);
    const whole = wholeRunEncoder(dialect);
    const options = { noLongerValid, dialect: whole.dialect };
    await openStream(principal, position.run_id, from(position), request, options).text();
    const { object, status, failed } = dialect.soFar();
    if (status === "queued" || status === "in_progress") return whole.cutOff(runHeaders(position));
    if (!failed) return json(200, object, runHeaders(position));
    const { status: code, body: error } = failedRun(failed);
    return json(code, error, { ...runHeaders(position), ...noRetry });
  }

  /** Starts a run with the earlier messages. `from`: a run whose client continues with another agent. */
  async function begin(
    request: Request,
    principal: Principal,
    { entries, run, shortens, reference }: ReturnType<typeof readResponse> & { reference: string },
    { previous_response_id: previous }: CreateResponse,
    from: string | null,
  ): Promise<ResponsePosition> {
    const before = previous ? await responses.messagesTo(principal, previous) : [];
    const whole = conversationOf(before, await responses.resolved(principal, entries));
    const cut = shortens ? withoutRoom(whole.messages) : 0;
    const rest = { messages: whole.messages.slice(cut), places: whole.places.slice(cut) };
    const { messages, places } = from ? handOverMessages(from, rest) : rest;
    if (messages.length === 0) throw invalid("input", "Must have something that the user says.");
    // In a conversation, the waiting run blocks later ones, so end it first.
    if (from) await handOver(must, request, from);
    const isNew = previousRunId(request, principal) === null;
    if (run.thread_id && isNew && isQuestionOpen(runs, principal, run.thread_id))
      throw new AppError("thread_busy", openQuestion, { param: "conversation" });
    const createdRun = await must(request, "POST", "/v1/runs", {
      ...remembering(principal, run),
      agent_id: reference,
      input: messages,
    }).catch((error) => {
      const isThread = error instanceof AppError && error.param === "thread_id";
      throw isThread ? refusedConversation(error) : ofMessages(error, places, "input");
    });
    return { run_id: String(createdRun.id), seq: 0 };
  }

  /**
   * Returns the messages for the agent that takes over. A conversation already has them, except for the open question.
   */
  function handOverMessages(run_id: string, conversation: Conversation): Conversation {
    if (conversation.messages.some(({ role }) => role === "user"))
      return userLast(conversation.messages, conversation.places);
    return { messages: [{ role: "user", content: responses.questionOf(run_id) }], places: [null] };
  }

  /** Adds the thread's history to the run, also if its agent's runs do not include it by default. */
  function remembering(principal: Principal, run: Omit<CreateRun, "input">): Omit<CreateRun, "input"> {
    const isRemembered = agents.get(principal, run.agent_id).memory?.history.mode === "thread";
    // The agent decides which history runs of a client token get.
    if (!run.thread_id || isRemembered || principal.token) return run;
    return { ...run, overrides: { ...run.overrides, history: { mode: "thread" } } };
  }

  /** Submits results to the run that asked. A retry leads to the same response. */
  async function submit(
    request: Request,
    principal: Principal,
    run_id: string,
    results: Results,
    { previous_response_id: previous }: CreateResponse,
  ): Promise<ResponsePosition> {
    if (previous && responses.find(principal, previous).run_id !== run_id)
      throw new AppError("tool_call_not_found", "The response before did not ask for this call.", {
        param: `input[${results.places[0]}].call_id`,
      });
    await submitResults(must, request, run_id, results);
    return { run_id, seq: lastQuestionSeq(journal, run_id, new Set(results.answers.map((one) => one.tool_call_id))) };
  }

  function streamed(
    request: Request,
    principal: Principal,
    stretch: ResponsePosition,
    after: number | null,
    cancelOnLeave: boolean,
  ): Response {
    const dialect = responses.dialectOf(stretch, { stream: true, after });
    const options = { noLongerValid, dialect, cancelOnLeave };
    const response = openStream(principal, stretch.run_id, from(stretch), request, options);
    for (const [name, value] of Object.entries(runHeaders(stretch))) response.headers.set(name, value);
    return response;
  }

  const responseJson = async (stretch: ResponsePosition): Promise<Response> =>
    json(200, (await responses.soFar(stretch)).object, runHeaders(stretch));

  /** Returns the part of a run that a response id names. Throws if the caller may not read the run. */
  async function findFor(request: Request, principal: Principal, id: string): Promise<ResponsePosition> {
    const stretch = responses.find(principal, id);
    await must(request, "GET", `/v1/runs/${stretch.run_id}?exclude=messages,tool_calls`);
    return stretch;
  }

  async function retrieve(request: Request, principal: Principal, id: string): Promise<Response> {
    const stretch = await findFor(request, principal, id);
    const query = new URL(request.url).searchParams;
    if (query.get("stream") !== "true") return responseJson(stretch);
    const after = numberIn(query.get("starting_after"));
    if (after > lastNumber(journal.head(stretch.run_id)?.seq ?? 0))
      throw new AppError("invalid_cursor", "This response has no such event.", { param: "starting_after" });
    return streamed(request, principal, stretch, after, false);
  }

  async function cancel(request: Request, principal: Principal, id: string): Promise<Response> {
    const stretch = responses.find(principal, id);
    await must(request, "POST", `/v1/runs/${stretch.run_id}/cancel`, {}).catch((error) => {
      // Cancelling twice is no error.
      if (journal.head(stretch.run_id)?.status !== "cancelled") throw error;
    });
    return responseJson(stretch);
  }

  async function remove(request: Request, principal: Principal, id: string): Promise<Response> {
    const stretch = responses.find(principal, id);
    await must(request, "DELETE", `/v1/runs/${stretch.run_id}`);
    return json(200, { id: responseId(stretch), object: "response", deleted: true });
  }

  async function inputItems(request: Request, principal: Principal, id: string): Promise<Response> {
    const stretch = await findFor(request, principal, id);
    return json(200, itemPage(responses.inputItems(stretch), request.url));
  }

  const { parse, ...change } = { parse: "none" as const, ...withDeclaration({ needsRoom: false }) };
  return new Elysia({ prefix: "/openai/v1/responses" })
    .post("/", (context) => guarded(context, (by) => create(context.request, by)), { parse, ...change })
    .get("/:id", (context) => guarded(context, (by) => retrieve(context.request, by, idIn(context))))
    .delete("/:id", (context) => guarded(context, (by) => remove(context.request, by, idIn(context))), { parse })
    .post("/:id/cancel", (context) => guarded(context, (by) => cancel(context.request, by, idIn(context))), {
      parse,
      ...change,
    })
    .get("/:id/input_items", (context) => guarded(context, (by) => inputItems(context.request, by, idIn(context))));
}

/** Empty if the path cannot be decoded. */
const idIn = ({ params: { id } }: { params: { id?: string } }): string => id ?? "";

const from = ({ seq }: ResponsePosition) => ({ seq, anchor: null, offset: 0 });
const refusedConversation = ({ code }: AppError) =>
  new AppError(code, noSuch("conversation"), { param: "conversation" });
const runHeaders = ({ run_id }: ResponsePosition) => ({ "x-runnel-run-id": run_id });

function numberIn(text: string | null): number {
  if (text === null) return -1;
  if (!/^\d{1,16}$/.test(text)) throw invalid("starting_after", "Must be the number of an event.");
  return Number(text);
}
