import { AppError, tolerate } from "../core/errors.ts";
import { ifThere, notFound } from "../core/not-found.ts";
import type { RequiredCall } from "../core/run-event.ts";
import type { ToolAnswer } from "../core/submit.ts";
import { mayAnswer, mayRun, mayUse } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import { read as readPages } from "../http/page.ts";
import type { Principal } from "../http/principal.ts";
import type { ApiAnswer, DoorAccess } from "../http/within.ts";
import type { Journal } from "../journal/journal.ts";
import type { OpenStream } from "../runs/open-stream.ts";
import type { RunStore } from "../runs/store.ts";
import type { Dialect } from "../runs/stream.ts";
import type { ThreadStore } from "../threads/store.ts";

export interface ConversationDeps extends Pick<DoorAccess, "api" | "noLongerValid" | "madeBefore"> {
  chats: ThreadStore["chats"];
  runs: Pick<RunStore, "standing" | "inThread" | "askedBy">;
  journal: Pick<Journal, "read" | "head">;
  openStream: OpenStream;
}

/** Who talks to which agent. */
export interface Talk {
  request: Request;
  principal: Principal;
  agentId: string;
}

/** A message of a thread or a run, as the API shows it. */
export interface Recorded {
  id: string;
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  tool_calls?: { id: string; name: string; arguments: Record<string, unknown> }[];
  tool_call_id?: string;
  run_id?: string | null;
}

/** What a dialect is told of the place where its stream begins and ends. */
export interface Followed {
  run_id: string;
  /** Waits up to here were answered: the stream does not end at them. */
  answered: number;
  /** Whether the client answers what the run asks; else the stream goes on until somebody else has. */
  answers: boolean;
}

/** Says the parameters of what the API refused as the client knows them. */
type Rename = (param: string) => string;

/** Conversations as clients of user interfaces have them: by names of their own, with runs that go on and are read again. */
export function createConversations({
  api,
  noLongerValid,
  madeBefore,
  chats,
  runs,
  journal,
  openStream,
}: ConversationDeps) {
  /** Asks the API; throws what it refuses. */
  async function must({ request }: Talk, method: string, path: string, body?: object, rename?: Rename, key?: null) {
    const answer = await api(request, method, path, body, key);
    if (answer.status >= 400) throw refusalOf(answer, rename);
    return answer.body;
  }

  /** Whose the chats of this name are. */
  const nameOf = ({ principal, agentId }: Talk, chat: string, userId: string | null) => ({
    agent_id: agentId,
    chat,
    user_id: principal.token ? principal.token.user_id : userId,
  });

  /** The thread of a chat; a token for one thread has no other. */
  function threadOf(talk: Talk, chat: string, userId: string | null): string | null {
    const { token } = talk.principal;
    return token?.thread_id ?? (token?.run_id ? null : chats.threadOf(talk.principal, nameOf(talk, chat, userId)));
  }

  /** Starts a run with what the user says; what was said in its thread behind `keep` is taken back where it is given. */
  async function say(
    talk: Talk,
    chat: { id: string; userId: string | null; keep?: string | null },
    run: object,
    rename: Rename = (param) => param,
  ): Promise<string> {
    if ("stream" in run && run.stream)
      throw invalid(rename("stream"), "The answer is a stream of this protocol anyway.");
    const { principal, agentId } = talk;
    const body = { ...run, agent_id: agentId, ...(chat.userId !== null && { user_id: chat.userId }) };
    // Whoever may not is told so by the API, and leaves no thread behind.
    if (!mayRun(principal) || principal.token?.run_id) return (await must(talk, "POST", "/v1/runs", body, rename)).id;
    const there = await threadFor(talk, chat.id, chat.userId);
    try {
      return await sayIn(talk, there, chat.keep, body, rename);
    } finally {
      chats.settled(there);
    }
  }

  /** The chat's thread; one that is not there yet begins in the write of its first run, so that it costs no write of its own. */
  async function threadFor(talk: Talk, chat: string, userId: string | null): Promise<string> {
    const there = threadOf(talk, chat, userId);
    if (there !== null) return there;
    const name = nameOf(talk, chat, userId);
    // A request that may be sent again with its key has to be the same then, also when this one is refused.
    return talk.request.headers.has("idempotency-key")
      ? chats.open(talk.principal, name)
      : chats.promise(talk.principal, name);
  }

  async function sayIn(talk: Talk, there: string, keep: string | null | undefined, run: object, rename: Rename) {
    const thread_id = keep === undefined ? there : await cut(talk, there, keep);
    const isCut = thread_id !== there;
    const asked = { ...run, thread_id, if_thread_busy: "cancel_previous" };
    // Only with its run the chat goes on in its new thread: one that is refused takes nothing back.
    const { id } = await must(talk, "POST", "/v1/runs", asked, rename).catch(async (error) => {
      if (isCut) await chats.drop(talk.principal, thread_id);
      throw error;
    });
    if (isCut) await leave(talk, there, thread_id, keep ?? null);
    return String(id);
  }

  /** The thread that goes on behind a run, or from the beginning: a new one, unless that is the end of this one. */
  async function cut(talk: Talk, threadId: string, keep: string | null): Promise<string> {
    const { principal, request } = talk;
    if (behind(talk, threadId, keep).length === 0 && !chats.goesOnBehind(principal, threadId, keep)) return threadId;
    // What is behind came of this very request, whose answer was lost.
    const before = madeBefore(request, principal);
    if (before && journal.head(before)?.thread_id === threadId) return threadId;
    if (principal.token?.thread_id)
      throw new AppError("insufficient_scope", "This client token has its thread, in which nothing is taken back.");
    return chats.cut(principal, threadId, keep);
  }

  /** The chat goes on in another thread: what is under way in this one ends. */
  async function leave(talk: Talk, from: string, to: string, keep: string | null): Promise<void> {
    chats.settled(to);
    for (const { id } of behind(talk, from, keep))
      await cancel(talk, id).catch((error) => {
        // The new run is under way: that the other one ends by itself is no reason to say it was refused.
        if (!(error instanceof AppError)) throw error;
      });
  }

  /** The runs of a thread that are not over and began behind one; their ids sort by their time. */
  const behind = ({ principal }: Talk, threadId: string, keep: string | null) =>
    runs.inThread(principal, threadId).filter(({ id }) => id > (keep ?? ""));

  /** The run as it stands; null for one that is not there for this agent. */
  const find = (talk: Talk, runId: string) => ifThere(() => standing(talk, runId));

  /** Ends a run; one that has just ended by itself is as good. */
  const cancel = (talk: Talk, runId: string): Promise<void> =>
    must(talk, "POST", `/v1/runs/${runId}/cancel`, {}, undefined, null).catch(tolerate("run_already_terminal"));

  /** Throws for a run that is not one of this agent, or not the principal's. */
  function standing({ principal, agentId }: Talk, runId: string) {
    const row = runs.standing(principal, runId);
    if (row.agent_id !== agentId) throw notFound();
    return row;
  }

  /** Hands in what the client says to calls of a run. */
  async function answer(
    talk: Talk,
    runId: string,
    answers: readonly ToolAnswer[],
    rename: Rename,
  ): Promise<{
    /** The place behind which the client reads what comes of it. */
    from: number;
    /** What it was asked up to there. */
    asked: RequiredCall[];
  }> {
    // Where the trace was deleted, nothing is left to tell of what came of it.
    if (standing(talk, runId).summary !== null)
      throw new AppError("tool_call_not_found", "No run has asked for this call.", {
        param: rename("tool_outputs[0].tool_call_id"),
      });
    const path = `/v1/runs/${runId}/submit_tool_outputs`;
    // If they were submitted before, the result is returned again.
    const given = must(talk, "POST", path, { tool_outputs: answers }, rename);
    await given.catch(tolerate("run_not_awaiting_action"));
    return placeOf(runId, answers);
  }

  /** Behind the last question that these answers are about, which may be one of a run below: there stands what came of it. */
  function placeOf(runId: string, answers: readonly ToolAnswer[]): { from: number; asked: RequiredCall[] } {
    const isAbout = ({ id, needs }: RequiredCall): boolean =>
      answers.some(({ tool_call_id, decision }) => tool_call_id === id && needs !== (decision ? "output" : "approval"));
    const waits = [...entriesOf(runId)].flatMap(({ seq, event }) =>
      event.type === "run.requires_action"
        ? [{ seq, calls: event.required_action.submit_tool_outputs.tool_calls }]
        : [],
    );
    const last = waits.findLastIndex(({ calls }) => calls.some(isAbout));
    return { from: waits[last]?.seq ?? 0, asked: waits.slice(0, last + 1).flatMap(({ calls }) => calls) };
  }

  const entriesOf = (runId: string) =>
    readPages(
      (after: number, most) => journal.read(runId, after, most),
      0,
      ({ seq }) => seq,
    );

  /** The run of a chat that is not over; null where there is none. */
  function underWay(talk: Talk, chat: string, userId: string | null): string | null {
    const { principal, agentId } = talk;
    if (!mayUse(principal, agentId)) throw notFound();
    const threadId = threadOf(talk, chat, userId);
    const rows = threadId === null ? [] : runs.inThread(principal, threadId);
    const own = rows.filter((row) => row.agent_id === agentId);
    return (own.find(({ status }) => status !== "queued") ?? own[0])?.id ?? null;
  }

  /**
   * The newest messages of a chat, the oldest first. Of a run that is not over, what the user said: the rest is in its
   * stream.
   */
  async function recorded(talk: Talk, chat: string, userId: string | null): Promise<Recorded[]> {
    const runId = underWay(talk, chat, userId);
    const threadId = threadOf(talk, chat, userId);
    const page = threadId ? await must(talk, "GET", `/v1/threads/${threadId}/messages?limit=100`) : { data: [] };
    const run = runId === null ? { messages: [] } : await must(talk, "GET", `/v1/runs/${runId}?exclude=tool_calls`);
    const said: Recorded[] = page.data.toReversed();
    const begin = said.findIndex(({ role }) => role === "user");
    const asked: Recorded[] = run.messages.filter(({ role }: Recorded) => role === "user");
    return [...(begin < 0 ? [] : said.slice(begin)), ...asked];
  }

  return {
    must,
    cancel,
    say,
    answer,
    underWay,
    recorded,
    find,

    /** The run whose client was asked to make this call. */
    askedBy: (talk: Talk, callId: string): string | null => runs.askedBy(talk.principal, callId),

    /** The run from behind a place on, to where it ends or asks something new. */
    follow(
      { principal, request }: Talk,
      runId: string,
      from: number,
      dialectOf: (of: Followed) => Dialect,
      cancelOnLeave = false,
    ): Response {
      const { seq, status } = runs.standing(principal, runId);
      const answered = status === "requires_action" ? seq - 1 : seq;
      const dialect = dialectOf({ run_id: runId, answered, answers: mayAnswer(principal) });
      const place = { seq: from, anchor: null, offset: 0 };
      const response = openStream(principal, runId, place, request, { noLongerValid, dialect, cancelOnLeave });
      response.headers.set("x-runnel-run-id", runId);
      return response;
    },
  };
}

/** What the API refused, as it is thrown here. */
function refusalOf({ body: { error }, headers }: ApiAnswer, rename: Rename = (param) => param): AppError {
  const retryAfter = headers.get("retry-after");
  const param = error.param && rename(error.param);
  const said = (text: string): string => (error.param ? text.replace(error.param, param) : text);
  return new AppError(error.code, said(error.message), {
    ...(param && { param }),
    ...(error.details && { details: error.details }),
    ...(retryAfter && { retryAfter: Number(retryAfter) }),
  });
}
