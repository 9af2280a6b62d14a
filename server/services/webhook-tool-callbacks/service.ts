import { timingSafeEqual } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import { notFound, throwNotFound } from "../../domain/not-found.ts";
import { isOver, isResolved } from "../../domain/run-state.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import type { Log } from "../../lib/log.ts";
import type { Seal } from "../../lib/seal.ts";
import type { RunService } from "../../runs/service.ts";
import type { RunSubscriptions } from "../../runs/stream/run-subscriptions.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Journal, RunHead } from "../../storage/journal/journal.ts";
import type { CallbackUrls } from "./callback-urls.ts";

/** Result sent by a webhook tool: the output, or an error with `is_error`. */
export interface CallbackAnswer {
  output: unknown;
  is_error?: boolean;
}

const contextOf = (runId: string, callId: string): string => `early_output/${runId}/${callId}`;

export type Callbacks = ReturnType<typeof createCallbacks>;

/**
 * Accepts results of webhook tools at a URL that is valid for one call and needs no key. A result that arrives before
 * the run waits for it (other calls are still running) is stored and submitted later.
 */
export function createCallbacks({
  db,
  journal,
  watches,
  service,
  seal,
  urls,
  log,
}: {
  db: Db;
  journal: Journal;
  watches: RunSubscriptions;
  service: RunService;
  seal: Seal;
  urls: CallbackUrls;
  log: Log;
}) {
  const { sqlite } = db;
  const selectEarly = sqlite.query<{ call_id: string; answer: string }, [string]>(
    "SELECT call_id, answer FROM early_outputs WHERE run_id = ?",
  );
  const insertEarly = sqlite.query(
    "INSERT INTO early_outputs (run_id, call_id, answer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const deleteEarly = sqlite.query("DELETE FROM early_outputs WHERE run_id = ? AND call_id = ?");
  const selectWaiting = sqlite.query<{ run_id: string }, []>("SELECT DISTINCT run_id FROM early_outputs");
  const waitingRuns = new Set<string>();
  const unlisten = watches.listen((runId) => {
    if (waitingRuns.has(runId)) void deliver(runId);
  });

  /** Throws 404 for an invalid URL. */
  function open(token: string | null): { head: RunHead; callId: string } {
    const [runId = "", callId = "", proofText = ""] = (token ?? "").split("."); // Null if it could not be decoded.
    const expectedProof = Buffer.from(urls.proof(runId, callId));
    const actualProof = Buffer.from(proofText);
    if (actualProof.length !== expectedProof.length || !timingSafeEqual(actualProof, expectedProof)) throw notFound();
    const head = journal.head(runId) ?? throwNotFound();
    return { head, callId };
  }

  /** Submits a result, or stores it until the run waits. A repeat is accepted again; a different one is refused. */
  async function take({ head, callId }: ReturnType<typeof open>, answer: CallbackAnswer): Promise<"taken" | "kept"> {
    const { run_id } = head;
    try {
      await service.submit(head, run_id, [{ tool_call_id: callId, ...answer }]);
      return "taken";
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "run_not_awaiting_action") throw error;
      await db.write(() => keep(head, callId, answer, error));
      waitingRuns.add(run_id);
      await deliver(run_id); // The run may have begun to wait in between.
      return "kept";
    }
  }

  /** Call inside a write. Stores a result for an open call; throws `refusal` if the call is not open. */
  function keep({ run_id }: RunHead, callId: string, answer: CallbackAnswer, refusal: AppError): void {
    const head = journal.head(run_id);
    if (!head || isOver(head.status)) throw refusal;
    const call = journal.state(run_id).calls.find(({ id }) => id === callId);
    if (!call || isResolved(call)) throw refusal;
    const text = JSON.stringify(answer);
    const earlier = selectEarly.all(run_id).find(({ call_id }) => call_id === callId);
    if (earlier && openAnswer(run_id, earlier) !== text)
      throw new AppError("tool_call_already_resolved", `Tool call ${callId} already has another answer.`);
    // Sealed, because guardrails have not checked it yet.
    insertEarly.run(run_id, callId, seal.seal(text, contextOf(run_id, callId)));
  }

  const openAnswer = (runId: string, { call_id, answer }: { call_id: string; answer: string }): string =>
    answer.startsWith("{") ? answer : seal.open(answer, contextOf(runId, call_id)); // Plain in old versions.

  /** Submits the stored results to a waiting run; results it no longer accepts are dropped. */
  async function deliver(runId: string): Promise<void> {
    const head = journal.head(runId);
    if (head?.status === "in_progress" || head?.status === "paused") return;
    try {
      for (const earlyOutput of selectEarly.all(runId)) {
        const { call_id } = earlyOutput;
        if (head && !isOver(head.status)) await submitKept(head, call_id, parseExact(openAnswer(runId, earlyOutput)));
        await db.write(() => deleteEarly.run(runId, call_id));
      }
      waitingRuns.delete(runId);
    } catch (error) {
      log.error("a webhook's answer could not be given to its run", { run_id: runId, error });
    }
  }

  async function recover(): Promise<void> {
    for (const { run_id } of selectWaiting.all()) waitingRuns.add(run_id);
    await Promise.all([...waitingRuns].map(deliver));
  }

  async function submitKept(head: RunHead, callId: string, answer: CallbackAnswer): Promise<void> {
    try {
      await service.submit(head, head.run_id, [{ tool_call_id: callId, ...answer }]);
    } catch (error) {
      if (!(error instanceof AppError)) throw error; // Another answer came first and counts.
    }
  }

  return {
    open,
    take,
    /** Called at start and after a project arrived: a run may have begun to wait just before. */
    recover,
    stop: unlisten,
  };
}
