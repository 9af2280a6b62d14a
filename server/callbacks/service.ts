import { timingSafeEqual } from "node:crypto";
import { AppError } from "../core/errors.ts";
import { missing, notFound } from "../core/not-found.ts";
import { isOver, isResolved } from "../core/run-state.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import type { Journal, RunHead } from "../journal/journal.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import type { RunService } from "../runs/service.ts";
import type { Watches } from "../runs/watch.ts";

/** What a webhook says of its call: the output, or with `is_error` what went wrong. */
export interface CallbackAnswer {
  output: unknown;
  is_error?: boolean;
}

const contextOf = (runId: string, callId: string): string => `early_output/${runId}/${callId}`;

export type Callbacks = ReturnType<typeof createCallbacks>;

/**
 * Takes results of webhook tools at an address that is made for one call and needs no key. An answer that comes before
 * the run waits for it (other calls of the turn are at work) is kept, and given to the run when it does.
 */
export function createCallbacks({
  db,
  journal,
  watches,
  service,
  seal,
  baseUrl,
  naming,
  log,
}: {
  db: Db;
  journal: Journal;
  watches: Watches;
  service: Pick<RunService, "submit">;
  seal: Seal;
  /** Where clients reach this server: `https://api.example.com`. */
  baseUrl(): string;
  naming: boolean;
  log: Log;
}) {
  const { sqlite } = db;
  const selectTimes = sqlite.query<{ ms: number }, [string]>("SELECT action_timeout_ms AS ms FROM runs WHERE id = ?");
  const selectEarly = sqlite.query<{ call_id: string; answer: string }, [string]>(
    "SELECT call_id, answer FROM early_outputs WHERE run_id = ?",
  );
  const insertEarly = sqlite.query(
    "INSERT INTO early_outputs (run_id, call_id, answer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const deleteEarly = sqlite.query("DELETE FROM early_outputs WHERE run_id = ? AND call_id = ?");
  const selectWaiting = sqlite.query<{ run_id: string }, []>("SELECT DISTINCT run_id FROM early_outputs");
  const waiting = new Set<string>();
  const unlisten = watches.listen((runId) => {
    if (waiting.has(runId)) void deliver(runId);
  });

  const proof = (runId: string, callId: string): string => seal.mac(`tool_callback/${runId}/${callId}`);

  /** The address for the result of a call, and until when the run will wait for it. */
  function addressOf({ run_id, project_id }: RunHead, callId: string, now: number) {
    const place = naming ? `.${project_id}` : "";
    const url = `${baseUrl()}/callbacks/${run_id}.${callId}.${proof(run_id, callId)}${place}`;
    return { url, expires_at: timestamp(now + selectTimes.get(run_id)!.ms) };
  }

  /** Throws 404 for an address that nobody was given. */
  function open(token: string | null): { head: RunHead; callId: string } {
    const [runId = "", callId = "", given = ""] = (token ?? "").split("."); // Null: it could not be decoded.
    const right = Buffer.from(proof(runId, callId));
    const said = Buffer.from(given);
    if (said.length !== right.length || !timingSafeEqual(said, right)) throw notFound();
    const head = journal.head(runId) ?? missing();
    return { head, callId };
  }

  /** Takes an answer: given to the run, or kept until it waits. The same one again is taken again; another one is refused. */
  async function take({ head, callId }: ReturnType<typeof open>, answer: CallbackAnswer): Promise<"taken" | "kept"> {
    const { run_id } = head;
    try {
      await service.submit(head, run_id, [{ tool_call_id: callId, ...answer }]);
      return "taken";
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "run_not_awaiting_action") throw error;
      await db.write(() => keep(head, callId, answer, error));
      waiting.add(run_id);
      await deliver(run_id); // It may have come to wait in between.
      return "kept";
    }
  }

  /** Within a write: keeps an answer for a call that is still open; throws `refusal` where none is. */
  function keep({ run_id }: RunHead, callId: string, answer: CallbackAnswer, refusal: AppError): void {
    const state = journal.state(run_id);
    const call = state.calls.find(({ id }) => id === callId);
    if (!call || isOver(state.status) || isResolved(call)) throw refusal;
    const text = JSON.stringify(answer);
    const earlier = selectEarly.all(run_id).find(({ call_id }) => call_id === callId);
    if (earlier && opened(run_id, earlier) !== text)
      throw new AppError("tool_call_already_resolved", `Tool call ${callId} already has another answer.`);
    // No guardrail has seen it yet: nobody may read it in the database.
    insertEarly.run(run_id, callId, seal.seal(text, contextOf(run_id, callId)));
  }

  const opened = (runId: string, { call_id, answer }: { call_id: string; answer: string }): string =>
    answer.startsWith("{") ? answer : seal.open(answer, contextOf(runId, call_id)); // Earlier versions kept it plain.

  /** Gives a run that waits what was kept for it; what it no longer takes is forgotten. */
  async function deliver(runId: string): Promise<void> {
    const head = journal.head(runId);
    if (head?.status === "in_progress") return;
    try {
      for (const early of selectEarly.all(runId)) {
        const { call_id } = early;
        if (head && !isOver(head.status)) await submitKept(head, call_id, parseExact(opened(runId, early)));
        await db.write(() => deleteEarly.run(runId, call_id));
      }
      waiting.delete(runId);
    } catch (error) {
      log.error("a webhook's answer could not be given to its run", { run_id: runId, error });
    }
  }

  async function recover(): Promise<void> {
    for (const { run_id } of selectWaiting.all()) waiting.add(run_id);
    await Promise.all([...waiting].map(deliver));
  }

  async function submitKept(head: RunHead, callId: string, answer: CallbackAnswer): Promise<void> {
    try {
      await service.submit(head, head.run_id, [{ tool_call_id: callId, ...answer }]);
    } catch (error) {
      if (!(error instanceof AppError)) throw error; // Somebody else has answered: theirs counts.
    }
  }

  return {
    addressOf,
    open,
    take,
    /** At boot, and where runs have come from elsewhere: one may have come to wait just when it was left. */
    recover,
    stop: unlisten,
  };
}
