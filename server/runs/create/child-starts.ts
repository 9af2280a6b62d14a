import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { tightestBudget } from "../../domain/budget.ts";
import { childBudget } from "../../domain/child-budget.ts";
import { withFollowUp } from "../../domain/decide.ts";
import { supersededCall } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { decidedEvents } from "../../domain/guardrail-event.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { preModelSteps } from "../../domain/pre-model-steps.ts";
import type { RunCreated, RunEvent, ToolError } from "../../domain/run-event.ts";
import { initialState, type RunState } from "../../domain/run-state.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createKeyedMutex } from "../../lib/keyed-mutex.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { ChosenVersion } from "../../resources/labels/resolve-agent.ts";
import type { ChildOrder } from "../../runtime/agent-loop/messages.ts";
import { screenInput } from "../../runtime/guardrails/screen-input.ts";
import { AppendRefused, type Journal, type RunHead } from "../../storage/journal/journal.ts";
import type { Pool } from "../dispatch/pool.ts";
import { requireScopeIds } from "../scope-ids.ts";
import type { RunStore } from "../store.ts";
import type { NewRunOptions } from "./new-runs.ts";
import { type ModelFacts, pinnedModels } from "./pinned-models.ts";
import type { RequirePrice } from "./require-price.ts";
import { runVariables } from "./run-variables.ts";

type Refused = { refused: ToolError };
type Started = { run_id: string } | Refused;

/** A child run, not yet written. */
interface PreparedChild {
  run: RunCreated;
  agent: AgentSnapshot;
  decided: RunEvent[];
}

interface ChildStartsOptions extends ModelFacts {
  journal: Journal;
  pool: Pool;
  runs: RunStore;
  /** Returns the agent as a run would pin it now. Throws if the agent is missing or unavailable. */
  snapshot(scope: Scope, agentId: string, version: number | null, key: string): AgentSnapshot;
  chooseVersion: NewRunOptions["chooseVersion"];
  /** Refreshes the tool lists of the agent's MCP servers; returns undefined if they are up to date. */
  refreshTools(scope: Scope, agentId: string, version: number | null, key: string): Promise<void> | undefined;
  /** Maximum number of descendants of one root run. */
  childrenMax(scope: Scope): number;
  requirePrice: RequirePrice;
  now: () => number;
}

/** Starts runs for calls of other runs. */
export function createChildStarts({
  journal,
  pool,
  runs,
  snapshot,
  chooseVersion,
  refreshTools,
  childrenMax,
  priceOf,
  requirePrice,
  windowOf,
  fallbacksOf,
  now,
}: ChildStartsOptions) {
  let stopped = false;
  // One model answer may call a hundred agents: children are created one at a time, and other requests run in between.
  const perScope = createKeyedMutex();
  const yieldTurn = createYielder();

  /** Starts the child run of a call. Returns the existing child if a crash came before its parent had recorded it. */
  async function start(parent: RunHead, order: ChildOrder): Promise<Started> {
    const existingId = runs.childOf(parent.run_id, order.tool_call_id);
    if (existingId !== null) return { run_id: existingId };
    if (parent.depth >= limits.agent_depth)
      return refusal("agent_depth_exceeded", `Agents call agents at most ${limits.agent_depth} deep.`);
    const full = refusalIfFull(parent);
    if (full) return full;
    try {
      const key = keyFor(parent);
      const { agent_id, version = null, label = null } = order;
      const chosen = chooseVersion(parent, { agent_id, version, label }, key);
      await refreshTools(parent, agent_id, chosen.version, key);
      const { begun } = await perScope(nameOf(parent), async () => {
        await yieldTurn();
        requireWaiting(parent);
        const prepared = refusalIfFull(parent) ?? (await prepare(parent, order, chosen, key));
        return { begun: "refused" in prepared ? prepared : begin(parent, order, prepared) };
      });
      return await begun;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "resource_not_found" && error.param !== "label")
        return refusal("agent_not_found", "The agent of this tool was deleted.");
      return refusal(error.code, error.message);
    }
  }

  /** Returns the key that chooses versions: all calls in a thread, else of a user, else below a run get the same. */
  function keyFor({ root_run_id }: RunHead): string {
    const root = journal.head(root_run_id);
    return root?.thread_id ?? root?.user_id ?? root_run_id;
  }

  /** Checked before any work and again inside the write, because concurrent calls may compete for the last place. */
  function refusalIfFull(parent: RunHead): Refused | null {
    const max = childrenMax(parent);
    if (runs.countBelow(parent.root_run_id) < max) return null;
    const message = `A run may start at most ${max} runs by calling agents (children_per_run), and it has reached that limit.`;
    return refusal("too_many_children", message);
  }

  /** The creator's key is not checked against this agent: it may use the parent, and the parent has this tool. */
  async function prepare(
    parent: RunHead,
    order: ChildOrder,
    { version, label }: ChosenVersion,
    key: string,
  ): Promise<PreparedChild> {
    const { project_id, environment, run_id } = parent;
    const agent = snapshot({ project_id, environment }, order.agent_id, version, key);
    // Read in slices and cached, because all calls of one answer need the same state.
    const state = await journal.stateInSlices(run_id);
    if (!state) throw new AppendRefused(supersededCall);
    if (agent.memory) requireScopeIds(agent, state.run);
    requirePrice(parent, agent, tightestBudget(state.run.budget, order.budget ?? agent.budget));
    const { asked, findings } = await screenInput(agent, { input: order.input });
    return {
      agent,
      run: {
        ...creationEvent(state, { ...order, input: asked.input }, agent),
        ...(label && { label }),
      },
      decided: decidedEvents(findings, 0, 0),
    };
  }

  /** Throws AppendRefused if the asking attempt was superseded, its run has ended, or the process is stopping. */
  function requireWaiting({ run_id, attempt }: RunHead): void {
    const head = stopped ? null : journal.head(run_id);
    if (head?.status !== "in_progress" || head.attempt !== attempt) throw new AppendRefused(supersededCall);
  }

  function creationEvent(
    parent: RunState,
    { tool_call_id, input, budget }: ChildOrder,
    agent: AgentSnapshot,
  ): RunCreated {
    const run = parent.run;
    const left_ms = Math.max(1, (runs.expiry(run.run_id) ?? now()) - now());
    const ownBudget = budget ?? agent.budget;
    return childRun(run, agent, {
      run_id: newId("run", now()),
      agent_hash: journal.hashOf(agent),
      input,
      parent_call_id: tool_call_id,
      timeout_ms: Math.min(limits.run_timeout_ms, left_ms),
      budget: childBudget(
        parent,
        ownBudget,
        Math.max(0, now() - requireValue(parent.started_at, "The start of the parent")),
      ),
      ...pinnedModels(agent, run.environment, { priceOf, windowOf, fallbacksOf }),
      ...preModelSteps(agent, { thread_id: null, file_ids: [] }),
      ...runVariables(agent, { request: null, before: run.variables }),
    });
  }

  async function begin(parent: RunHead, order: ChildOrder, { run, agent, decided }: PreparedChild): Promise<Started> {
    const { run_id } = run;
    let earlyResult: Started | null = null;
    const entries = await journal.commit(
      run_id,
      () => {
        // Two loops may ask at once, one of them superseded without knowing it.
        const known = runs.childOf(parent.run_id, order.tool_call_id);
        earlyResult = known === null ? refusalIfFull(parent) : { run_id: known };
        if (earlyResult) return [];
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
    if (earlyResult) return earlyResult;
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
  | "fallbacks"
  | "prepare"
  | "variables"
>;

/** Returns the child's creation event; project, user, session and key come from its parent. */
const childRun = (parent: RunCreated, agent: AgentSnapshot, childFields: Own): RunCreated => ({
  ...childFields,
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
