import type { CallAuthorization, RunEvent } from "../../domain/run-event.ts";
import type { RunState, ToolCall } from "../../domain/run-state.ts";
import { submitEvents, waitOrGoOn } from "../../domain/submit.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { Pool } from "../dispatch/pool.ts";

interface Deps {
  journal: Journal;
  pool: Pool;
  /** Call inside a write. Records in a run's ancestors that its status has changed. */
  insertAbove(runId: string): Inserted[];
  now: () => number;
}

/** Chooses among the calls of a run that wait for a consent. */
type IsMeant = (authorization: CallAuthorization) => boolean;

/** Lets the calls of a waiting run go on, or fail, once their user has decided. No-op for a run that does not wait. */
export function createCallAuthorization({ journal, pool, insertAbove, now }: Deps) {
  async function decide(
    runId: string,
    isMeant: IsMeant,
    eventsOf: (state: RunState, calls: readonly ToolCall[]) => RunEvent[],
  ): Promise<void> {
    const write = (): Inserted[] => {
      // A paused run asks again when it goes on.
      if (journal.head(runId)?.status !== "requires_action") return [];
      const state = journal.state(runId);
      const calls = waitingCalls(state).filter(({ authorization }) => isMeant(authorization));
      if (calls.length === 0) return [];
      return [[runId, journal.insert(runId, eventsOf(state, calls))], ...insertAbove(runId)];
    };
    const scope = journal.head(runId) ?? undefined;
    const updates = await journal.prepared([runId], () => journal.commitAll(write, scope));
    for (const [id] of updates) pool.start(id);
  }

  return {
    /** Makes the calls that waited. */
    allow: (runId: string, isMeant: IsMeant): Promise<void> =>
      decide(runId, isMeant, (state, calls) => {
        const events = calls.map(({ id }): RunEvent => ({ type: "tool.authorized", tool_call_id: id }));
        return [...events, waitOrGoOn(state, events, now())];
      }),
    /** Fails the calls that waited: the model reads why. */
    deny: (runId: string, isMeant: IsMeant, reason: string): Promise<void> =>
      decide(runId, isMeant, (state, calls) => {
        const answers = calls.map(({ id }) => ({ tool_call_id: id, decision: "reject" as const, reason }));
        return submitEvents(state, answers, () => [], now());
      }),
  };
}

/** Returns the calls of a run that wait for a consent. */
export const waitingCalls = ({ calls }: Pick<RunState, "calls">): AuthorizedCall[] =>
  calls.filter((call): call is AuthorizedCall => call.needs === "authorization" && call.authorization !== undefined);

type AuthorizedCall = ToolCall & { authorization: CallAuthorization };
