import { Elysia } from "elysia";
import { unaskedCall } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { readJsonBody } from "../../http/json-body.ts";
import { withDeclaration } from "../../http/operation.ts";
import { firstItem } from "../../lib/collections.ts";
import { jsonOrText } from "../../lib/json.ts";
import { decodeUri } from "../../lib/safe-string.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import {
  type Answering,
  type ApiMessage,
  type ConversationDeps,
  createConversations,
  type StreamedRun,
  type Talk,
} from "../conversations.ts";
import { readerOf } from "../openai/api-calls.ts";
import { answerId, keyOf, runIn, uiMessageDialect } from "./dialect.ts";
import { type CallAnswers, readMessages, SendMessages, type UserMessage } from "./request.ts";

interface Deps extends ConversationDeps {
  agents: AgentStore;
}

const read = readerOf(SendMessages);

interface Sent {
  request: Request;
  set: { headers: Record<string, unknown> };
  params: { id: string; chat?: string };
}

interface Following {
  /** Journal position. */
  from?: number;
  /** Questions that the client was asked before, by `keyOf`. */
  asked?: string[];
  /** Id of the assistant's message. */
  message_id?: string;
  cancelOnLeave?: boolean;
}

/** Routes for `useChat` of the AI SDK. Every operation goes through the API, with its key and its rules. */
export function aiSdkRoutes({ agents, ...deps }: Deps) {
  const conversations = createConversations(deps);
  const { must } = conversations;

  const talkOf = ({ request, set, params: { id } }: Sent): Talk =>
    conversations.talkOf(request, set.headers, agentIn(id));

  async function send(context: Sent): Promise<Response> {
    const talk = talkOf(context);
    const body = read(await readJsonBody(talk.request));
    const asked = readMessages(body);
    return asked.do === "say" ? startRun(talk, body, asked) : answer(talk, asked);
  }

  async function startRun(talk: Talk, body: SendMessages, { input, place, keep }: UserMessage): Promise<Response> {
    if (!agents.has(talk.principal, talk.agentId)) throw notFound();
    if (keep && !conversations.find(talk, keep))
      throw new AppError("resource_not_found", `No run ${keep} has answered here.`, { param: "messages" });
    const { run = {}, id, user_id } = body;
    const chat = { id, userId: user_id ?? null, input, ...(keep !== undefined && { keep, isRewound: true }) };
    const renameParam = (param: string) => (param.startsWith("input") ? `messages[${place}]` : `run.${param}`);
    const answering = await conversations.say(talk, chat, { ...run, input }, renameParam);
    return follow(talk, answering, { cancelOnLeave: run.on_disconnect === "cancel" });
  }

  async function answer(talk: Talk, { run_id, message_id, answers, places }: CallAnswers): Promise<Response> {
    const runId = run_id ?? conversations.askedBy(talk, firstItem(answers).tool_call_id);
    const named = (param: string): string =>
      param.replace(/^tool_outputs\[(\d+)\](?:\.tool_call_id)?/, (_, index) => places[Number(index)] ?? "messages");
    if (runId === null) throw new AppError("tool_call_not_found", unaskedCall, { param: firstItem(places) });
    const { from, asked } = await conversations.answer(talk, runId, answers, named);
    const options = { from, asked: asked.map(keyOf), ...(message_id && runIn(message_id) && { message_id }) };
    return follow(talk, { runId, steered: null }, options);
  }

  function follow(
    talk: Talk,
    answering: Answering,
    { from = 0, asked = [], message_id = answering.runId, cancelOnLeave = false }: Following = {},
  ): Response {
    const dialectOf = (of: StreamedRun) => uiMessageDialect({ ...of, asked, message_id });
    const response = conversations.follow(talk, answering, from, dialectOf, cancelOnLeave);
    response.headers.set("x-vercel-ai-ui-message-stream", "v1");
    return response;
  }

  const underWay = (talk: Talk, sent: Sent): string | null =>
    conversations.underWay(talk, sent.params.chat, userIn(sent));

  async function resume(sent: Sent): Promise<Response> {
    const talk = talkOf(sent);
    const runId = underWay(talk, sent);
    if (runId === null) return noContent();
    await must(talk, "GET", `/v1/runs/${runId}?exclude=messages,tool_calls`);
    return follow(talk, { runId, steered: null });
  }

  /** Returns the messages so far. Of an active run only the user's: the rest is in its stream. */
  async function messages(sent: Sent): Promise<object> {
    const talk = talkOf(sent);
    const chat = sent.params.chat;
    return { id: chat, messages: uiMessages(await conversations.recorded(talk, chat, userIn(sent))) };
  }

  async function stop(sent: Sent): Promise<Response> {
    const talk = talkOf(sent);
    const runId = underWay(talk, sent);
    if (runId !== null) await conversations.cancel(talk, runId);
    return noContent();
  }

  return new Elysia({ prefix: "/ui/v1/agents/:id/chat" })
    .post("/", send, { parse: "none", ...withDeclaration({ needsRoom: false }) })
    .get("/:chat", messages)
    .get("/:chat/stream", resume)
    .delete("/:chat/stream", stop, { parse: "none", ...withDeclaration({ needsRoom: false }) });
}

const userIn = ({ request }: Sent): string | null => new URL(request.url).searchParams.get("user_id");

// Clients send the @ of a label plain or escaped.
const agentIn = (segment: string): string => decodeUri(segment) ?? segment;

const noContent = (): Response => new Response(null, { status: 204, headers: { "cache-control": "no-store" } });

interface UiMessage {
  id: string;
  role: "user" | "assistant";
  parts: object[];
}

/**
 * Converts a chat to UI messages, oldest first. All messages of a run become one, with the run's id; what follows a
 * message to the run at work is another one.
 */
function uiMessages(recorded: readonly ApiMessage[]): UiMessage[] {
  const outputs = new Map(
    recorded.flatMap(({ tool_call_id, content }) => (tool_call_id ? [[tool_call_id, content]] : [])),
  );
  const messages: UiMessage[] = [];
  for (const { id: own, role, content, tool_calls = [], run_id } of recorded) {
    const text = content === "" ? [] : [{ type: "text", text: content, state: "done" }];
    if (role === "user") messages.push({ id: own, role, parts: text });
    if (role !== "assistant") continue;
    const calls = tool_calls.map(({ id: toolCallId, name, arguments: input }) => ({
      type: `tool-${name}`,
      toolCallId,
      state: "output-available",
      input,
      providerExecuted: true,
      output: outputIn(outputs.get(toolCallId) ?? ""),
    }));
    const parts = [{ type: "step-start" }, ...text, ...calls];
    const last = messages.at(-1);
    if (last?.role === "assistant" && runIn(last.id) === run_id) {
      last.parts.push(...parts);
      continue;
    }
    const isSteered = run_id && last && messages.some(({ id }) => id === run_id);
    messages.push({ id: isSteered ? answerId(run_id, last.id) : (run_id ?? own), role, parts });
  }
  return messages;
}

/** Parses an output for models: JSON if it is an object or a list. */
const outputIn = (text: string): unknown => (/^[[{]/.test(text) ? jsonOrText(text) : text);
