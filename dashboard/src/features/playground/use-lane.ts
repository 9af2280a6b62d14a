import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { foldFrames } from "../../../../server/domain/api-types/run-view.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { wholeText } from "../../../../server/domain/run-input.ts";
import type { WorkspaceKey } from "../../entities/crud/resource.ts";
import { followRun } from "../../entities/run/follow-run.ts";
import { runApi, runQuery } from "../../entities/run/run-api.ts";
import { threadApi } from "../../entities/thread/thread-api.ts";
import type { ToolAnswer } from "../../entities/tool-call/answer-call.ts";
import { ApiError, get, post, query, resourceUrl, unreachable } from "../../lib/api.ts";
import type { Frame } from "../../lib/events.ts";
import { fetchFull } from "../../lib/fetch-full.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { openRun, type RunListener } from "./open-run.ts";
import { isOpen, newTurn, type RunBody, type Turn, turnOf } from "./turn.ts";

/** A conversation with its actions. */
export interface Conversation {
  turns: Turn[];
  /** True while one of its runs is in progress. */
  isBusy: boolean;
  /** True while its turns are loading from the thread. */
  isReading: boolean;
  /** Error of loading the turns. */
  error: Error | null;
  readAgain(): void;
  send(body: RunBody): void;
  /** Sends an input again whose run was not created. */
  again(turn: Turn): void;
  note(turn: Turn, answer: ToolAnswer): void;
  clear(): void;
}

/**
 * A conversation in a thread, which is created with the first input. `threadId` comes from the address; an existing
 * thread is loaded, so that a reload loses nothing.
 */
export function useConversation(
  threadId: string | undefined,
  onThread: (id: string | undefined) => void,
): Conversation {
  const at = useWorkspace();
  const client = useQueryClient();
  const [turns, setTurns] = useState<Turn[]>([]);
  const [isReading, setIsReading] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [attempt, setAttempt] = useState(0);
  const stops = useRef(new Map<string, () => void>());
  const { projectId, mode } = at;
  const reader = useMemo(() => createRunReader({ projectId, mode }, client), [projectId, mode, client]);
  const keys = useRef(new Map<string, string>());
  /** Thread of the shown turns. */
  const shownThread = useRef<string | undefined>(undefined);
  /** True while the first input creates a thread. */
  const isBeginning = useRef(false);
  /** True after unmount: the address now belongs to another page. */
  const isLeft = useRef(false);

  const change = useCallback((key: string, by: (turn: Turn) => Turn) => {
    setTurns((all) => all.map((turn) => (turn.key === key ? by(turn) : turn)));
  }, []);

  /** Streams a turn's run until another read of it starts, at most one update per animation frame. */
  const follow = useCallback(
    (key: string, subscribe: (listener: RunListener) => () => void) => {
      stops.current.get(key)?.();
      const stop = subscribe({
        onFrames(frames) {
          change(key, (turn) => withFrames(turn, frames));
          const runId = frames.find(({ data }) => typeof data.run_id === "string")?.data.run_id;
          // Pending calls and cost change only with events, never with tokens.
          if (typeof runId === "string" && frames.some(({ event }) => event !== "token")) reader.ask(runId);
        },
        onState: (stream) => change(key, (turn) => ({ ...turn, stream })),
        onRefused: (error) => change(key, (turn) => ({ ...turn, error, stream: "ended" })),
      });
      stops.current.set(key, stop);
    },
    [reader, change],
  );

  const stopAll = useCallback(() => {
    for (const stop of stops.current.values()) stop();
    stops.current.clear();
  }, []);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
      stopAll();
      reader.stop();
    };
  }, [stopAll, reader]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: reload only for another thread or after an error.
  useEffect(() => {
    if (threadId ? threadId === shownThread.current : isBeginning.current) return;
    const abort = new AbortController();
    shownThread.current = threadId;
    stopAll();
    setTurns([]);
    setError(null);
    setIsReading(threadId !== undefined);
    if (!threadId) return;
    runsOfThread(at, threadId, abort.signal)
      .then((runs) => {
        setTurns(runs.map(turnOf));
        for (const run of runs)
          follow(run.id, (listener) =>
            followRun(at, run.id, { onFrames: listener.onFrames, onState: listener.onState }),
          );
      })
      .catch((refusal: Error) => {
        if (abort.signal.aborted) return;
        // The thread was deleted or belongs to the other mode: start a new conversation.
        if (refusal instanceof ApiError && refusal.status === 404) onThread(undefined);
        else setError(refusal);
      })
      .finally(() => {
        if (!abort.signal.aborted) setIsReading(false);
      });
    return () => {
      abort.abort();
      shownThread.current = undefined;
    };
  }, [threadId, attempt]);

  const start = (turn: Turn, body: RunBody) => {
    const idempotencyKey = keys.current.get(turn.key) ?? crypto.randomUUID();
    keys.current.set(turn.key, idempotencyKey);
    follow(turn.key, (listener) => openRun(at, body, idempotencyKey, listener));
  };

  const send = (body: RunBody) => {
    const turn = newTurn(crypto.randomUUID(), body.input, body);
    setTurns((all) => [...all, turn]);
    void begin(turn, body);
  };

  const begin = async (turn: Turn, body: RunBody) => {
    try {
      const thread_id = body.thread_id ?? shownThread.current ?? (await makeThread(wholeText(body.input)));
      const full = { ...body, thread_id };
      change(turn.key, (each) => ({ ...each, body: full }));
      start(turn, full);
    } catch (error) {
      const refusal = error instanceof ApiError ? error : unreachable();
      change(turn.key, (each) => ({ ...each, error: refusal, stream: "ended" }));
    }
  };

  const makeThread = async (input: string): Promise<string> => {
    const title = `Playground: ${input.trim().slice(0, 200)}`;
    isBeginning.current = true;
    try {
      const { id } = await post<{ id: string }>(resourceUrl(at, "/threads"), { title });
      shownThread.current = id;
      if (!isLeft.current) onThread(id);
      return id;
    } finally {
      isBeginning.current = false;
    }
  };

  const again = (turn: Turn) => {
    if (!turn.body) return;
    // A request without a response may have created a run: reusing its key finds it. A rejected request created none.
    if (turn.error?.code !== "unreachable") keys.current.delete(turn.key);
    change(turn.key, (each) => ({ ...each, error: null, stream: "connecting" }));
    void begin(turn, turn.body);
  };

  const clear = () => {
    stopAll();
    shownThread.current = undefined;
    setTurns([]);
    setError(null);
    onThread(undefined);
  };

  return {
    turns,
    isReading,
    error,
    readAgain: () => setAttempt((n) => n + 1),
    isBusy: turns.some(isOpen),
    send,
    again,
    note: (turn, answer) => change(turn.key, (each) => ({ ...each, answers: [...each.answers, answer] })),
    clear,
  };
}

function withFrames(turn: Turn, frames: readonly Frame[]): Turn {
  const view = foldFrames(turn.view, frames);
  const runId = turn.runId ?? frames.map(({ data }) => data.run_id).find((id) => typeof id === "string") ?? null;
  return { ...turn, view, runId: runId as string | null, lastId: frames.findLast(({ id }) => id)?.id ?? turn.lastId };
}

const retry_ms = 2000;

/**
 * Refetches runs, at most one fetch per run at a time. A request during a fetch causes one more, because the response
 * in flight may be outdated.
 */
function createRunReader(at: Pick<Workspace, "projectId" | "mode">, client: QueryClient) {
  const reading = new Set<string>();
  const queuedIds = new Set<string>();
  const timers = new Set<ReturnType<typeof setTimeout>>();

  function ask(id: string): void {
    if (reading.has(id)) queuedIds.add(id);
    else void fetchRun(id);
  }

  async function fetchRun(id: string): Promise<void> {
    reading.add(id);
    try {
      client.setQueryData(runQuery(at, id).queryKey, await get<Run>(runApi.url(at, id)));
    } catch {
      timers.add(setTimeout(() => ask(id), retry_ms));
    }
    reading.delete(id);
    if (queuedIds.delete(id)) ask(id);
  }

  return {
    ask,
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** The cached run of a turn; never fetches. */
export function useCachedRun(id: string | null): Run | undefined {
  return useQuery({ ...runQuery(useWorkspace(), id ?? ""), enabled: false }).data;
}

/**
 * Newest runs of a thread, oldest first. Fetches the thread too, so that a missing one fails instead of having no runs.
 */
async function runsOfThread(at: WorkspaceKey, threadId: string, signal: AbortSignal): Promise<Run[]> {
  const [page] = await Promise.all([
    get<List<Run>>(runApi.url(at) + query({ thread_id: threadId, limit: 20 }), signal),
    get(threadApi.url(at, threadId), signal),
  ]);
  const runs = page.data.map((run) => fetchFull(run, runApi.url(at, run.id), signal));
  return (await Promise.all(runs)).reverse();
}
