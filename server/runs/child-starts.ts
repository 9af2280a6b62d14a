import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { childBudget } from "../core/child-budget.ts";
import { withFollowUp } from "../core/decide.ts";
import { AppError } from "../core/errors.ts";
import { decidedEvents } from "../core/guardrail-event.ts";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { preparationsOf } from "../core/preparations.ts";
import type { ModelPrice } from "../core/price.ts";
import type { RunCreated, RunEvent, ToolError } from "../core/run-event.ts";
import { initialState, type RunState } from "../core/run-state.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import { AppendRefused, type Journal, type RunHead } from "../journal/journal.ts";
import { createOneByOne } from "../lib/one-by-one.ts";
import { inSlices } from "../lib/slices.ts";
import type { ChildOrder } from "../worker/messages.ts";
import type { Pool } from "./pool.ts";
import { requireScopeIds } from "./scope-ids.ts";
import { screenInput } from "./screening.ts";
import type { RunStore } from "./store.ts";

type Refused = { refused: ToolError };
type Started = { run_id: string } | Refused;

/** A child run that is ready to be written. */
interface Made {
  run: RunCreated;
  agent: AgentSnapshot;
  decided: RunEvent[];
}

interface ChildStartsOptions {
  journal: Journal;
  pool: Pool;
  runs: RunStore;
  /** The agent as a run would pin it now; throws for what is not there, or not available. */
  snapshot(scope: Scope, agentId: string): AgentSnapshot;
  /** Brings what is known of the agent's MCP servers up to date; undefined when it is already. */
  refreshTools(scope: Scope, agentId: string): Promise<void> | undefined;
  /** How many runs may come of one run of a scope. */
  childrenMax(scope: Scope): number;
  /** What a model costs now, by its full name; null when nobody knows. */
  priceOf(model: string): ModelPrice | null;
  /** How many tokens a model takes, by its full name; null when nobody knows. */
  windowOf(model: string): number | null;
  now: () => number;
}

/** Starts runs for calls of other runs. */
export function createChildStarts({
  journal,
  pool,
  runs,
  snapshot,
  refreshTools,
  childrenMax,
  priceOf,
  windowOf,
  now,
}: ChildStartsOptions) {
  let stopped = false;
  // One answer of a model may call for a hundred runs: they are made a few at a time, between what others ask for.
  const inLine = createOneByOne();
  const rest = inSlices();

  /** Starts the child run of a call, or finds the one that was started: a crash may have come before its parent noted it. */
  async function start(parent: RunHead, order: ChildOrder): Promise<Started> {
    const known = runs.childOf(parent.run_id, order.tool_call_id);
    if (known !== null) return { run_id: known };
    if (parent.depth >= limits.agent_depth)
      return refusal("agent_depth_exceeded", `Agents call agents at most ${limits.agent_depth} deep.`);
    const full = refusalIfFull(parent);
    if (full) return full;
    try {
      await refreshTools(parent, order.agent_id);
      const { begun } = await inLine(nameOf(parent), async () => {
        await rest();
        requireWaiting(parent);
        const made = refusalIfFull(parent) ?? (await make(parent, order));
        return { begun: "refused" in made ? made : begin(parent, order, made) };
      });
      return await begun;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "resource_not_found") return refusal("agent_not_found", "The agent of this tool was deleted.");
      return refusal(error.code, error.message);
    }
  }

  /** Asked before any work, and again within the write: several may ask for the last place. */
  function refusalIfFull(parent: RunHead): Refused | null {
    const max = childrenMax(parent);
    if (runs.countBelow(parent.root_run_id) < max) return null;
    const message = `A run may start at most ${max} runs by calling agents (children_per_run), and it has reached that limit.`;
    return refusal("too_many_children", message);
  }

  /** Whom the creator's key may use does not matter here: it may use the parent, and the parent has this tool. */
  async function make(parent: RunHead, order: ChildOrder): Promise<Made> {
    const { project_id, environment, run_id } = parent;
    const agent = snapshot({ project_id, environment }, order.agent_id);
    // In slices, and kept: all calls of one answer ask for it.
    const state = await journal.stateInSlices(run_id);
    if (!state) throw new AppendRefused("Nobody waits.");
    if (agent.memory) requireScopeIds(agent, state.run!);
    const { asked, findings } = await screenInput(agent, { input: order.input });
    return {
      agent,
      run: pinned(state, { ...order, input: asked.input }, agent),
      decided: decidedEvents(findings, 0, 0),
    };
  }

  /** Throws where the loop that asked was given up, its run has ended, or the process is about to. */
  function requireWaiting({ run_id, attempt }: RunHead): void {
    const head = stopped ? null : journal.head(run_id);
    if (head?.status !== "in_progress" || head.attempt !== attempt) throw new AppendRefused("Nobody waits.");
  }

  function pinned(parent: RunState, { tool_call_id, input, budget }: ChildOrder, agent: AgentSnapshot): RunCreated {
    const run = parent.run!;
    const left_ms = Math.max(1, (runs.expiry(run.run_id) ?? now()) - now());
    const own = budget ?? agent.budget;
    return childRun(run, agent, {
      run_id: newId("run", now()),
      agent_hash: journal.hashOf(agent),
      input,
      parent_call_id: tool_call_id,
      timeout_ms: Math.min(limits.run_timeout_ms, left_ms),
      budget: childBudget(parent, own, Math.max(0, now() - parent.started_at!)),
      price: priceOf(agent.model),
      context_window: windowOf(agent.model),
      ...preparationsOf(agent, { thread_id: null, file_ids: [] }),
    });
  }

  async function begin(parent: RunHead, order: ChildOrder, { run, agent, decided }: Made): Promise<Started> {
    const { run_id } = run;
    let other: Started | null = null;
    const entries = await journal.commit(
      run_id,
      () => {
        // Two loops may ask at once, one of which does not know yet that it was given up.
        const known = runs.childOf(parent.run_id, order.tool_call_id);
        other = known === null ? refusalIfFull(parent) : { run_id: known };
        if (other) return [];
        requireWaiting(parent);
        const inserted = journal.insert(
          run_id,
          withFollowUp(initialState, [{ type: "run.created", ...run }, ...decided], agent, now()),
        );
        journal.pin(parent, run_id, agent);
        return inserted;
      },
      parent,
    );
    if (other) return other;
    pool.start(run_id, { history: entries, agent });
    return { run_id };
  }

  return {
    start,
    stop(): void {
      stopped = true;
    },
  };
}

const refusal = (code: string, message: string): Refused => ({ refused: { code, message } });

type Own = Pick<
  RunCreated,
  | "run_id"
  | "agent_hash"
  | "input"
  | "parent_call_id"
  | "timeout_ms"
  | "budget"
  | "price"
  | "context_window"
  | "prepare"
>;

/** A run of its own, that belongs to whom and to what its parent belongs. */
const childRun = (parent: RunCreated, agent: AgentSnapshot, own: Own): RunCreated => ({
  ...own,
  project_id: parent.project_id,
  environment: parent.environment,
  agent_id: agent.id,
  agent_version: agent.version,
  model: agent.model,
  message_id: newId("message"),
  max_turns: agent.max_turns,
  action_timeout_ms: parent.action_timeout_ms,
  on_disconnect: "continue",
  thread_id: null,
  session_id: parent.session_id,
  user_id: parent.user_id,
  file_ids: [],
  parent_run_id: parent.run_id,
  depth: (parent.depth ?? 0) + 1,
  metadata: parent.metadata,
  request_id: parent.request_id,
  ...(parent.api_key_id !== undefined && { api_key_id: parent.api_key_id }),
});
