import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { AppError } from "../core/errors.ts";
import { replay } from "../core/replay.ts";
import type { Divergence, JournalEntry } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import { isStorageRefusal } from "../db/damage.ts";
import { createReplayScreen } from "../guardrails/replay-screen.ts";
import type { Journal } from "../journal/journal.ts";
import { readRecord } from "../journal/read-record.ts";
import { inSlices } from "../lib/slices.ts";

import type { Comparison } from "./row.ts";

interface ComparisonOptions {
  journal: Journal;
  /** The agent as a run would pin it now; throws for one that is not there. */
  snapshot: (scope: Scope, agentId: string) => AgentSnapshot;
}

export type Compare = ReturnType<typeof createComparison>;

// Whoever reads a list of five knows what is the matter; the run's own replay shows all of them.
const shownMax = 5;

/** Holds the record of a pinned run against its agent as it is now: no model, no tool, no row. */
export function createComparison({ journal, snapshot }: ComparisonOptions) {
  return async function compare(scope: Scope, runId: string, agentId: string): Promise<Comparison> {
    const agent = currentAgent(scope, agentId);
    if ("error" in agent) return agent;
    const { version: agent_version } = agent;
    try {
      const entries = await readRecord(journal, runId);
      if (entries.length === 0) return refused("run_deleted", "The run or its trace was deleted.");
      return { agent_version, ...(await compared(entries, agent, pinnedBy(scope, entries))), error: null };
    } catch (error) {
      if (isStorageRefusal(error)) throw error;
      return { ...refused("record_damaged", "The record of the run cannot be read."), agent_version };
    }
  };

  /** A run of an agent that could not begin would not come out as it did either. */
  function currentAgent(scope: Scope, agentId: string): AgentSnapshot | Comparison {
    try {
      return snapshot(scope, agentId);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isGone = error.code === "resource_not_found";
      return isGone ? refused("agent_deleted", "The agent was deleted.") : refused(error.code, error.message);
    }
  }

  function pinnedBy(scope: Scope, [first]: readonly JournalEntry[]): AgentSnapshot {
    if (first?.event.type !== "run.created") throw new Error("A journal begins with run.created.");
    return journal.snapshot(scope, first.event.agent_hash);
  }
}

async function compared(entries: readonly JournalEntry[], agent: AgentSnapshot, pinned: AgentSnapshot) {
  const divergences: Divergence[] = [];
  const steps = new Set<number>();
  let divergences_count = 0;
  const against = { agent, pinned, screen: createReplayScreen(agent, pinned), rest: inSlices() };
  for await (const { seq: _, expected, actual, ...found } of replay(entries, against)) {
    divergences_count++;
    steps.add(found.step_index);
    // Of the first one everything is told, as far as it is short.
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
