import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { agentDeleted, recordUnreadable } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { replay } from "../../domain/replay.ts";
import { createdEvent, type Divergence, type JournalEntry } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createReplayScreen } from "../../runtime/guardrails/replay-screen.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { readRecord } from "../../storage/journal/read-record.ts";

import type { Comparison } from "./row.ts";

interface ComparisonOptions {
  journal: Journal;
  /** Returns the current snapshot of the agent; throws if it does not exist. */
  snapshot: (scope: Scope, agentId: string) => AgentSnapshot;
}

export type Compare = ReturnType<typeof createComparison>;

// Maximum divergences shown; the run's own replay shows all.
const shownMax = 5;

/** Replays a pinned run against its current agent, without model calls, tool calls or writes. */
export function createComparison({ journal, snapshot }: ComparisonOptions) {
  return async function compare(scope: Scope, runId: string, agentId: string): Promise<Comparison> {
    const agent = currentAgent(scope, agentId);
    if ("error" in agent) return agent;
    const { version: agent_version } = agent;
    try {
      const entries = await readRecord(journal, runId);
      if (entries.length === 0) return refused("run_deleted", "The run or its trace was deleted.");
      const pinned = journal.snapshot(scope, createdEvent(entries).agent_hash);
      return { agent_version, ...(await compared(entries, agent, pinned)), error: null };
    } catch (error) {
      if (isStorageRefusal(error)) throw error;
      return { ...refused("record_damaged", recordUnreadable), agent_version };
    }
  };

  /** Returns the agent, or a failed comparison if a run of it could not start. */
  function currentAgent(scope: Scope, agentId: string): AgentSnapshot | Comparison {
    try {
      return snapshot(scope, agentId);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isGone = error.code === "resource_not_found";
      return isGone ? refused("agent_deleted", agentDeleted) : refused(error.code, error.message);
    }
  }
}

async function compared(entries: readonly JournalEntry[], agent: AgentSnapshot, pinned: AgentSnapshot) {
  const divergences: Divergence[] = [];
  const steps = new Set<number>();
  let divergences_count = 0;
  const options = { agent, pinned, screen: createReplayScreen(agent, pinned), rest: createYielder() };
  for await (const { seq: _, expected, actual, ...found } of replay(entries, options)) {
    divergences_count++;
    steps.add(found.step_index);
    // Only the first divergence includes the expected and actual values.
    if (divergences_count === 1) divergences.push({ ...found, expected, actual });
    else if (divergences.length < shownMax) divergences.push(found);
  }
  const count = stepsOf(entries);
  const others = [...steps].filter((step) => step < count).length;
  return { divergences_count, divergences, matched_steps: count - others };
}

const stepsOf = (entries: readonly JournalEntry[]): number =>
  entries.reduce((count, { event }) => Math.max(count, "step_index" in event ? (event.step_index ?? -1) + 1 : 0), 0);

const refused = (code: string, message: string): Comparison => ({
  agent_version: null,
  divergences_count: 0,
  divergences: [],
  matched_steps: 0,
  error: { code, message },
});
