import { unaskedCall } from "../domain/error-messages.ts";
import { AppError, isRefusal, tolerate } from "../domain/errors.ts";
import { notFound, orNull } from "../domain/not-found.ts";
import { type RequiredCallObject, requiredActionObject } from "../domain/required-action.ts";
import type { MessageRole } from "../domain/run-input.ts";
import type { ToolAnswer } from "../domain/submit.ts";
import { mayAnswer, mayRun, mayUse } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import type { ApiResponse, ProtocolAccess } from "../http/internal-client.ts";
import { readRows as readPages } from "../http/page.ts";
import type { Principal } from "../http/principal.ts";
import { createKeyedMutex } from "../lib/keyed-mutex.ts";
import type { TextSource } from "../lib/sse.ts";
import type { AgentResolver } from "../resources/labels/module.ts";
import type { ThreadStore } from "../resources/threads/store.ts";
import type { CreateRun } from "../runs/schema.ts";
import type { RunStore } from "../runs/store.ts";
import type { OpenSseResponse } from "../runs/stream/sse-response.ts";
import type { Journal } from "../storage/journal/journal.ts";
import { type ChatEncoder, type ChatStream, createOpenStreams } from "./chat-streams.ts";
import { readNamedAgent } from "./named-agent.ts";

export interface ConversationDeps extends ProtocolAccess {
  resolver: AgentResolver;
  chats: ThreadStore["chats"];
  runs: RunStore;
  journal: Journal;
  openStream: OpenSseResponse;
}

/** The caller of a request and the agent that they talk to. */
export interface Talk {
  request: Request;
  principal: Principal;
  agentId: string;
  /** How new runs name the agent, perhaps with a label or a version. */
  reference: string;
}

/** A message of a thread or a run, as the API returns it. */
export interface ApiMessage {
  id: string;
  role: MessageRole;
  content: string;
  tool_calls?: { id: string; name: string; arguments: Record<string, unknown> }[];
  tool_call_id?: string;
  run_id?: string | null;
}

/** The part of a run that an encoder streams. */
export interface StreamedRun {
  run_id: string;
  /** Journal position; waits before it are answered, so the stream does not end at them. */
  answered: number;
  /** True if the client answers the run's questions; else the stream goes on until another client has. */
  answers: boolean;
}

/** A message of the user, for a chat. */
interface ChatMessage {
  /** Client's id of the chat. */
  id: string;
  userId: string | null;
  /** Run after which the thread's messages are removed, null for all of them; undefined: none are. */
  keep?: string | null;
  /** True if the message replaces another one, and is therefore no message to a run that is at work. */
  isRewound?: boolean;
  /** The message, for a run that is at work. */
  input: CreateRun["input"];
}

/** The run that answers a message. */
export interface Answering {
  runId: string;
  /** Stream of the part that answers a message to a run at work; null: the run is the message's own. */
  steered: ChatStream | null;
}

/** Renames a parameter of an API error to the client's name for it. */
type Rename = (param: string) => string;

/**
 * Conversations for user interface protocols: chats under the client's ids, whose runs continue and can be read again.
 */
export function createConversations({
  api,
  identify,
  resolver,
  noLongerValid,
  previousRunId,
  chats,
  runs,
  journal,
  openStream,
}: ConversationDeps) {
  const openStreams = createOpenStreams();
  const oneByOne = createKeyedMutex();

  /** Calls the API. Throws its error. */
  async function must(
    { request }: Talk,
    method: string,
    path: string,
    body?: object,
    rename?: Rename,
    key?: string | null,
  ) {
    const answer = await api(request, method, path, body, key);
    if (answer.status >= 400) throw refusalOf(answer, rename);
    return answer.body;
  }

  /** Key of a chat: agent, chat id and user. */
  const nameOf = ({ principal, agentId }: Talk, chat: string, userId: string | null) => ({
    agent_id: agentId,
    chat,
    user_id: principal.token ? principal.token.user_id : userId,
  });

  /** Returns the thread of a chat: null for an id that cannot be decoded. A token for one thread has no other. */
  function threadOf(talk: Talk, chat: string | undefined, userId: string | null): string | null {
    const { token } = talk.principal;
    if (token?.thread_id) return token.thread_id;
    return token?.run_id || chat === undefined ? null : chats.threadOf(talk.principal, nameOf(talk, chat, userId));
  }

  /** Starts a run with the user's message, or sends it to the run that is at work. */
  async function say(
    talk: Talk,
    chat: ChatMessage,
    run: Record<string, unknown>,
    rename: Rename = (param) => param,
  ): Promise<Answering> {
    if ("stream" in run && run.stream)
      throw invalid(rename("stream"), "The answer is a stream of this protocol anyway.");
    const { principal, reference } = talk;
    const body = { ...run, agent_id: reference, ...(chat.userId !== null && { user_id: chat.userId }) };
    // Let the API refuse it, so that no thread is left behind.
    if (!mayRun(principal) || principal.token?.run_id)
      return { runId: (await must(talk, "POST", "/v1/runs", body, rename)).id, steered: null };
    const currentThread = await threadFor(talk, chat.id, chat.userId);
    try {
      return await sayIn(talk, currentThread, chat, body, rename);
    } finally {
      chats.release(currentThread);
    }
  }

  /** Returns the chat's thread. A new one is created in the write of its first run, which saves a write. */
  async function threadFor(talk: Talk, chat: string, userId: string | null): Promise<string> {
    const there = threadOf(talk, chat, userId);
    if (there !== null) return there;
    const name = nameOf(talk, chat, userId);
    // A retry with the same key must send the same request, even after a refusal: create the thread now.
    return talk.request.headers.has("idempotency-key")
      ? chats.open(talk.principal, name)
      : chats.reserve(talk.principal, name);
  }

  async function sayIn(
    talk: Talk,
    there: string,
    { keep, isRewound = false, input }: ChatMessage,
    run: Record<string, unknown>,
    rename: Rename,
  ): Promise<Answering> {
    const thread_id = keep === undefined ? there : await truncateThread(talk, there, keep);
    const isCut = thread_id !== there;
    const { if_thread_busy } = run;
    const ownRun = { ...run, thread_id, if_thread_busy: if_thread_busy ?? "cancel_previous" };
    const message = { ...run, thread_id, input, if_thread_busy: "steer" };
    const maySteer = !isCut && !isRewound && if_thread_busy === undefined;
    if (maySteer && previousRunId(talk.request, talk.principal)) return repeat(talk, message, ownRun, rename);
    const atWork = maySteer ? runAtWork(talk, there) : null;
    if (atWork !== null) return steer(talk, atWork, message, rename);
    // Move the chat to its new thread only once its run exists, so that a refused run removes nothing.
    const { id } = await must(talk, "POST", "/v1/runs", ownRun, rename).catch(async (error) => {
      if (isCut) await chats.drop(talk.principal, thread_id);
      throw error;
    });
    if (isCut) await moveChat(talk, there, thread_id, keep ?? null);
    return { runId: String(id), steered: null };
  }

  /** Sends a message again as it was sent before: to the run that was at work then, or for a run of its own. */
  async function repeat(talk: Talk, message: object, ownRun: object, rename: Rename): Promise<Answering> {
    const key = talk.request.headers.get("idempotency-key");
    const send = (body: object) => must(talk, "POST", "/v1/runs", body, rename, key);
    const { id } = await send(message).catch((error) => {
      if (isRefusal(error, "idempotency_key_reused")) return send(ownRun);
      throw error;
    });
    return { runId: String(id), steered: null };
  }

  /**
   * Returns the active run of a thread if it takes messages: one of this agent that asks its client for nothing. The
   * client of a run that nobody reads here has stopped it, and goes on with something else.
   */
  function runAtWork({ principal, agentId }: Talk, threadId: string): string | null {
    const [first] = runs.inThread(principal, threadId);
    if (!first || first.agent_id !== agentId || first.status === "requires_action") return null;
    return openStreams.isRead(first.id) ? first.id : null;
  }

  /** Sends a message to the run that is at work. If that has ended meanwhile, the message starts a run. */
  const steer = (talk: Talk, atWork: string, message: object, rename: Rename): Promise<Answering> =>
    // One after the other, so that each has its own place in the journal.
    oneByOne(atWork, async () => {
      // Opened before: the message may reach the earlier streams before this request goes on.
      const stream = openStreams.open(atWork, journal.head(atWork)?.seq ?? 0);
      try {
        const { id } = await must(talk, "POST", "/v1/runs", message, rename);
        if (id === atWork) return { runId: atWork, steered: stream };
        openStreams.remove(atWork, stream);
        return { runId: String(id), steered: null };
      } catch (error) {
        openStreams.remove(atWork, stream);
        throw error;
      }
    });

  /** Returns a thread that ends at `keep`, or at the beginning: a new one, unless this one ends there. */
  async function truncateThread(talk: Talk, threadId: string, keep: string | null): Promise<string> {
    const { principal, request } = talk;
    if (runsAfter(talk, threadId, keep).length === 0 && !chats.goesOnBehind(principal, threadId, keep)) return threadId;
    // The later messages are of this very request, whose response was lost.
    const before = previousRunId(request, principal);
    if (before && journal.head(before)?.thread_id === threadId) return threadId;
    if (principal.token?.thread_id)
      throw new AppError("insufficient_scope", "This client token has its thread, in which nothing is taken back.");
    return chats.cut(principal, threadId, keep);
  }

  /** Moves the chat to another thread and cancels the active runs of this one. */
  async function moveChat(talk: Talk, from: string, to: string, keep: string | null): Promise<void> {
    chats.release(to);
    for (const { id } of runsAfter(talk, from, keep))
      await cancel(talk, id).catch((error) => {
        // The new run has started: an API error in cancelling the old one (such as that it just ended) must not fail
        // the request.
        if (!(error instanceof AppError)) throw error;
      });
  }

  /** Returns the active runs of a thread that started after `keep`; run ids sort by time. */
  const runsAfter = ({ principal }: Talk, threadId: string, keep: string | null) =>
    runs.inThread(principal, threadId).filter(({ id }) => id > (keep ?? ""));

  /** Returns the state of a run, or null if this agent has no such run. */
  const find = (talk: Talk, runId: string) => orNull(() => requireRun(talk, runId));

  /** Cancels a run. Ignores that it has just ended. */
  const cancel = (talk: Talk, runId: string): Promise<void> =>
    must(talk, "POST", `/v1/runs/${runId}/cancel`, {}, undefined, null).catch(tolerate("run_already_terminal"));

  /** Throws if the run is not of this agent, or not visible to the principal. */
  function requireRun({ principal, agentId }: Talk, runId: string) {
    const row = runs.standing(principal, runId);
    if (row.agent_id !== agentId) throw notFound();
    return row;
  }

  /** Submits the client's answers to the calls of a run. */
  async function answer(
    talk: Talk,
    runId: string,
    answers: readonly ToolAnswer[],
    rename: Rename,
  ): Promise<{
    /** Journal position after which the client reads the result. */
    from: number;
    /** Calls that the client was asked about up to there. */
    asked: RequiredCallObject[];
  }> {
    // The trace was deleted, so no result is left to stream.
    if (requireRun(talk, runId).summary !== null)
      throw new AppError("tool_call_not_found", unaskedCall, {
        param: rename("tool_outputs[0].tool_call_id"),
      });
    const path = `/v1/runs/${runId}/submit_tool_outputs`;
    // If they were submitted before, return the same place.
    const submission = must(talk, "POST", path, { tool_outputs: answers }, rename);
    await submission.catch(tolerate("run_not_awaiting_action"));
    return placeOf(runId, answers);
  }

  /** Returns the position of the last question about these calls, also one of a descendant: the result follows it. */
  function placeOf(runId: string, answers: readonly ToolAnswer[]): { from: number; asked: RequiredCallObject[] } {
    const isAnswered = ({ tool_call_id: id, needs }: RequiredCallObject): boolean =>
      answers.some(({ tool_call_id, decision }) => tool_call_id === id && needs !== (decision ? "output" : "approval"));
    const questions = [...entriesOf(runId)].flatMap(({ seq, event }) =>
      event.type === "run.requires_action"
        ? [{ seq, calls: requiredActionObject(event.required_action).submit_tool_outputs.tool_calls }]
        : [],
    );
    const last = questions.findLastIndex(({ calls }) => calls.some(isAnswered));
    return { from: questions[last]?.seq ?? 0, asked: questions.slice(0, last + 1).flatMap(({ calls }) => calls) };
  }

  const entriesOf = (runId: string) =>
    readPages(
      (after: number, most) => journal.read(runId, after, most),
      0,
      ({ seq }) => seq,
    );

  /** Returns the active run of a chat, or null. */
  function underWay(talk: Talk, chat: string | undefined, userId: string | null): string | null {
    const { principal, agentId } = talk;
    if (!mayUse(principal, agentId)) throw notFound();
    const threadId = threadOf(talk, chat, userId);
    const rows = threadId === null ? [] : runs.inThread(principal, threadId);
    const own = rows.filter((row) => row.agent_id === agentId);
    return (own.find(({ status }) => status !== "queued") ?? own[0])?.id ?? null;
  }

  /**
   * Returns the newest messages of a chat, oldest first. Of an active run only its input: the rest is in its stream.
   */
  async function recorded(talk: Talk, chat: string | undefined, userId: string | null): Promise<ApiMessage[]> {
    const runId = underWay(talk, chat, userId);
    const threadId = threadOf(talk, chat, userId);
    const page = threadId ? await must(talk, "GET", `/v1/threads/${threadId}/messages?limit=100`) : { data: [] };
    const run = runId === null ? { messages: [] } : await must(talk, "GET", `/v1/runs/${runId}?exclude=tool_calls`);
    const recordedMessages: ApiMessage[] = page.data.toReversed();
    const begin = recordedMessages.findIndex(({ role }) => role === "user");
    const steeredIds = new Set(runId === null ? [] : steeredMessages(runId));
    const asked: ApiMessage[] = run.messages.filter(
      ({ id, role }: ApiMessage) => role === "user" && !steeredIds.has(id),
    );
    return [...(begin < 0 ? [] : recordedMessages.slice(begin)), ...asked];
  }

  /** Removes the stream if it cannot be opened. */
  function opened(runId: string, stream: ChatStream, open: () => Response): Response {
    try {
      return open();
    } catch (error) {
      openStreams.remove(runId, stream);
      throw error;
    }
  }

  const steeredMessages = (runId: string): string[] =>
    [...entriesOf(runId)].flatMap(({ event }) => (event.type === "run.steered" ? [event.message_id] : []));

  return {
    /** Authenticates a request for an agent. It counts as a read; the API requests that it makes are counted too. */
    talkOf(request: Request, headers: Record<string, unknown>, agent: string): Talk {
      const principal = identify(request, headers, "reads_per_minute");
      const { id, reference } = readNamedAgent(resolver, principal, agent);
      return { request, principal, agentId: id, reference };
    },
    must,
    cancel,
    say,
    answer,
    underWay,
    recorded,
    find,

    /** Returns the run whose client was asked to make this call. */
    askedBy: (talk: Talk, callId: string): string | null => runs.askedBy(talk.principal, callId),

    /** Streams a run from a position to its end or its next question. */
    follow(
      { principal, request }: Talk,
      { runId, steered }: Answering,
      from: number,
      dialectOf: (of: StreamedRun) => ChatEncoder,
      cancelOnLeave = false,
    ): Response {
      const stream = steered ?? openStreams.open(runId, null);
      const response = opened(runId, stream, () => {
        const { seq, status } = runs.standing(principal, runId);
        const answered = status === "requires_action" ? seq - 1 : seq;
        const dialect = stream.encode(dialectOf({ run_id: runId, answered, answers: mayAnswer(principal) }));
        const place = { seq: from, anchor: null, offset: 0 };
        const as = (texts: TextSource) => openStreams.until(texts, runId, stream);
        return openStream(principal, runId, place, request, { noLongerValid, dialect, cancelOnLeave, as });
      });
      response.headers.set("x-runnel-run-id", runId);
      return response;
    },
  };
}

/** Converts an API error response to an error to throw. */
function refusalOf({ body: { error }, headers }: ApiResponse, rename: Rename = (param) => param): AppError {
  const retryAfter = headers.get("retry-after");
  const param = error.param && rename(error.param);
  const replaceParam = (text: string): string => (error.param ? text.replace(error.param, param) : text);
  return new AppError(error.code, replaceParam(error.message), {
    ...(param && { param }),
    ...(error.details && { details: error.details }),
    ...(retryAfter && { retryAfter: Number(retryAfter) }),
  });
}
