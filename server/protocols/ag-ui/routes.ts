import { Elysia } from "elysia";
import { unaskedCall } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { invalid } from "../../http/errors.ts";
import { readJsonBody } from "../../http/json-body.ts";
import { withDeclaration } from "../../http/operation.ts";
import { firstItem } from "../../lib/collections.ts";
import { decodeUri } from "../../lib/safe-string.ts";
import { sseHeaders } from "../../lib/sse.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { CreateRun } from "../../runs/schema.ts";
import {
  type Answering,
  type ApiMessage,
  type ConversationDeps,
  createConversations,
  type StreamedRun,
  type Talk,
} from "../conversations.ts";
import { readerOf } from "../openai/api-calls.ts";
import { agUiDialect, agUiTold } from "./dialect.ts";
import { type CallAnswers, RunAgentInput, readInput, type UserMessage } from "./request.ts";

interface Deps extends ConversationDeps {
  agents: AgentStore;
}

const read = readerOf(RunAgentInput);

/** Routes of AG-UI. Every operation goes through the API, with its key and its rules. */
export function agUiRoutes({ agents, ...deps }: Deps) {
  const conversations = createConversations(deps);

  async function run(talk: Talk, body: RunAgentInput): Promise<Response> {
    const asked = readInput(body);
    switch (asked.do) {
      case "say":
        return startRun(talk, body, asked);
      case "answer":
        return answer(talk, body, asked);
      default:
        return resume(talk, body);
    }
  }

  async function startRun(
    talk: Talk,
    body: RunAgentInput,
    { run, context, place, keep }: UserMessage,
  ): Promise<Response> {
    if (!agents.has(talk.principal, talk.agentId)) throw notFound();
    const given = body.forwardedProps?.run ?? {};
    const chat = { id: body.threadId, userId: userIn(body), input: run.input, ...(keep !== undefined && { keep }) };
    const renameParam = (param: string) => {
      const [field = ""] = param.split(/[.[]/);
      if (field === "input") return `messages[${place}]`;
      return field in given && !(field in run) ? `forwardedProps.run.${param}` : param;
    };
    const contextFields = talk.principal.token ? before(context, run.input) : instructed(context, given, run.input);
    const answering = await conversations.say(talk, chat, { ...given, ...run, ...contextFields }, renameParam);
    return follow(talk, body, answering, 0, []);
  }

  /**
   * Submits outputs and decisions to the run that asked. Results of server tools, which clients send back too, are
   * dropped.
   */
  async function answer(talk: Talk, body: RunAgentInput, { answers }: CallAnswers): Promise<Response> {
    const callsWithRuns = answers.flatMap(({ run_id, place, ...given }) => {
      const runId = run_id ?? conversations.askedBy(talk, given.tool_call_id);
      return runId === null ? [] : [{ runId, place, given }];
    });
    const [first] = callsWithRuns;
    if (!first) throw new AppError("tool_call_not_found", unaskedCall, { param: firstItem(answers).place });
    const other = callsWithRuns.find(({ runId }) => runId !== first.runId);
    if (other) throw invalid(other.place, "Answers go to one run at a time.");
    const named = (param: string): string =>
      param.replace(
        /^tool_outputs\[(\d+)\](?:\.tool_call_id)?/,
        (_, index) => callsWithRuns[Number(index)]?.place ?? "messages",
      );
    const outputs = callsWithRuns.map(({ given }) => given);
    const { from, asked } = await conversations.answer(talk, first.runId, outputs, named);
    return follow(
      talk,
      body,
      { runId: first.runId, steered: null },
      from,
      asked.map(({ tool_call_id }) => tool_call_id),
    );
  }

  /** Returns the stored conversation and follows its active run, for a request without a message. */
  async function resume(talk: Talk, body: RunAgentInput): Promise<Response> {
    const { threadId, runId } = body;
    const under = conversations.underWay(talk, threadId, userIn(body));
    const messages = agUiMessages(await conversations.recorded(talk, threadId, userIn(body)));
    return under === null
      ? new Response(agUiTold(threadId, runId, messages), { headers: sseHeaders })
      : follow(talk, { ...body, messages: [] }, { runId: under, steered: null }, 0, [], messages);
  }

  function follow(
    talk: Talk,
    body: RunAgentInput,
    answering: Answering,
    from: number,
    asked: readonly string[],
    snapshot?: readonly object[],
  ): Response {
    const { threadId, runId, messages, protocolVersion = "0" } = body;
    const isCurrent = !protocolVersion.startsWith("0");
    const results = new Set(messages.flatMap(({ toolCallId }) => toolCallId ?? []));
    const told = [...asked, ...messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => call.id))];
    // A stream that goes on with a run at work encodes all of it, but sends only what follows.
    const seen = answering.steered ? { results: new Set<string>(), told: [] } : { results, told };
    const clientState = { messages: snapshot ?? messages, snapshot: snapshot !== undefined, ...seen };
    // A disconnect cancels the run, because few clients reconnect to one.
    const cancelOnLeave = body.forwardedProps?.run?.on_disconnect !== "continue" && !snapshot;
    const dialectOf = (of: StreamedRun) => agUiDialect({ ...of, ...clientState, threadId, runId, isCurrent });
    return conversations.follow(talk, answering, from, dialectOf, cancelOnLeave);
  }

  return new Elysia({ prefix: "/ag-ui/v1/agents/:id" }).post(
    "/",
    async ({ request, set, params: { id } }) => {
      // Clients send the @ of a label plain or escaped.
      const talk = conversations.talkOf(request, set.headers, decodeUri(id) ?? id);
      return run(talk, read(await readJsonBody(request)));
    },
    { parse: "none", ...withDeclaration({ needsRoom: false }) },
  );
}

const userIn = ({ forwardedProps }: RunAgentInput): string | null => forwardedProps?.user_id ?? null;

/** Adds context as a user message, because a page must not change an agent's instructions. */
function before(context: string, input: CreateRun["input"]): Pick<CreateRun, "input"> {
  if (context === "") return { input };
  const inputMessages = typeof input === "string" ? [{ role: "user" as const, content: input }] : input;
  return { input: [{ role: "user", content: context }, ...inputMessages] };
}

function instructed(context: string, given: Record<string, unknown>, input: CreateRun["input"]): object {
  if (context === "") return { input };
  const own = (given.overrides ?? {}) as Record<string, unknown>;
  const texts = [own.additional_instructions, context].filter((text) => typeof text === "string");
  return { input, overrides: { ...own, additional_instructions: texts.join("\n\n") } };
}

/** Converts the messages of a conversation to AG-UI. The id of an assistant message begins with its run's id. */
const agUiMessages = (recorded: readonly ApiMessage[]): object[] =>
  recorded.map(({ id, role, content, tool_calls, tool_call_id, run_id }) => {
    if (role === "tool") return { id, role, content, toolCallId: tool_call_id };
    if (role !== "assistant") return { id, role, content };
    const toolCalls = tool_calls?.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
    return { id: run_id ? `${run_id}-${id}` : id, role, content, ...(toolCalls && { toolCalls }) };
  });
