import type { AgentSnapshot, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { type ContextPlan, planContext } from "../../domain/context.ts";
import { equalJson } from "../../domain/equal.ts";
import { activeAgent } from "../../domain/handoff.ts";
import { limits } from "../../domain/limits.ts";
import type { ModelRequest } from "../../domain/model-call.ts";
import { requestForModel } from "../../domain/prompt.ts";
import { withPromptCaching } from "../../domain/prompt-caching.ts";
import { endsRun, type JournalEntry, type RunCreated, type RunEvent, type RunUsage } from "../../domain/run-event.ts";
import {
  apply,
  fold,
  type InitialState,
  initialState,
  isOver,
  isResolved,
  pendingCalls,
  type RunState,
  requireRun,
  type ToolCall,
} from "../../domain/run-state.ts";
import { skillFile } from "../../domain/skills.ts";
import { isInterrupted, unansweredMessages } from "../../domain/steering.ts";
import { summaryRequest } from "../../domain/summary.ts";
import { searchToolOf } from "../../domain/tool-search/search-tool.ts";
import { addChildRun } from "../../domain/usage.ts";
import type { runFixture } from "../run-fixture.ts";
import { instructionsOf, released as releasedAgent } from "./released-agent.ts";
import { skillTextOf } from "./skills.ts";
import { Found, type World } from "./world.ts";

export type Fixture = ReturnType<typeof runFixture>;

/** Knowledge about one run, from its commits and from the requests to models and tools. */
export interface Ledger {
  id: string;
  entries: JournalEntry[];
  state: RunState | InitialState;
  /** Number of starts of each step, and the steps that have ended. */
  starts: Map<number, number>;
  closed: Set<number>;
  /** Requests to tools, by call; and to models, by attempt of the run and start of the step. */
  requests: Map<string, number>;
  asked: Set<string>;
  /** Calls that were made and may not be repeated. */
  unsafe: Set<string>;
  /** Number of times that a person decided to run a call again. */
  again: Map<number, number>;
  /** The agent as the loop first had it: a run keeps its version. */
  pinned: AgentSnapshot | null;
  /** Names of the tools that each agent's model was last offered. */
  offered: Map<string, string[]>;
  /** Commit count when the run got into progress: the loop that continues it is notified later. */
  begun: number;
}

export type Witness = ReturnType<typeof createWitness>;

/** Watches every commit and every effect, and throws `Found` at the first broken guarantee. */
export function createWitness(world: World, fixture: () => Fixture) {
  const judges: ((ledger: Ledger, event: RunEvent) => void)[] = [];
  const ledgers = new Map<string, Ledger>();
  /**
   * Runs that were not alone when the process died, until they are recovered: none of them is proven to be the cause.
   */
  const beside = new Set<string>();
  let fault: Error | null = null;
  /** Faults are found in the middle of the product's work, which might catch the error: keep them. */
  const found = (message: string): Found => {
    const error = new Found(message);
    fault ??= error;
    return error;
  };

  /** Runs that clients have asked to go on after a pause. */
  const released = new Set<string>();
  const isReleased = (id: string | null): boolean =>
    id !== null && (released.has(id) || isReleased(runOf(ledgerOf(id)).parent_run_id));

  // Runs whose loop was notified of a failed commit: their model may get one request without a start.
  const told = new Set<string>();

  function ledgerOf(id: string): Ledger {
    const known = ledgers.get(id);
    if (known) return known;
    const fresh: Ledger = {
      id,
      entries: [],
      state: initialState,
      starts: new Map(),
      closed: new Set(),
      requests: new Map(),
      asked: new Set(),
      unsafe: new Set(),
      again: new Map(),
      pinned: null,
      offered: new Map(),
      begun: 0,
    };
    ledgers.set(id, fresh);
    return fresh;
  }

  /**
   * Takes the committed entries, write by write: `apply` itself refuses a gap, and anything after the end (P6, P7). The
   * journal may be ahead: a commit holds several writes, and a run's later entries are no evidence about this one.
   */
  function committed(id: string, entries: readonly JournalEntry[]): void {
    const ledger = ledgerOf(id);
    const { stalls: before } = ledger.state; // The end of a run closes its steps first, which looks like progress.
    const goesOn = !endsRun(entries.at(-1)!.event);
    for (const entry of entries) {
      world.note(`${short(id)} #${entry.seq} ${entry.event.type}${detail(entry.event)}`);
      judge(ledger, entry, before, goesOn);
      for (const other of judges) other(ledger, entry.event);
      try {
        ledger.state = apply(ledger.state, entry);
      } catch (error) {
        throw found(`${short(id)}: ${(error as Error).message}`);
      }
      ledger.entries.push(entry);
      if (begins.has(entry.event.type)) ledger.begun = fixture().db.write.commits();
    }
    const { status, seq, attempt } = ledger.state;
    const head = fixture().journal.head(id)!;
    const isAhead = head.seq > seq;
    if (!isAhead && (head.status !== status || head.seq !== seq || head.attempt !== attempt))
      throw found(`${short(id)}: the row says ${head.status} #${head.seq}, the journal ${status} #${seq}`);
    const { pool, slots: places, scope } = fixture();
    const [top, below, lent] = [places.taken(scope), sum(places.takenBelow(scope)), places.lent()];
    if (top > slots) throw found(`${top} runs are driven, ${slots} may be`);
    if (top + below + lent !== pool.driving())
      throw found(`${top} and ${below} slots are taken and ${lent} lent, ${pool.driving()} runs are driven`);
  }

  function judge(ledger: Ledger, { at, event }: JournalEntry, stalls: number, goesOn: boolean): void {
    const { id, state, starts, closed, again } = ledger;
    const wrong = (what: string) => found(`${short(id)}: ${event.type}: ${what}`);
    switch (event.type) {
      case "run.recovered":
        // A cancelled or expired run ends for that reason, not for the crash.
        if (beside.delete(id) && !event.clean && stalls === 2 && goesOn)
          throw wrong("blamed for a crash beside others (P9)");
        break;
      case "run.created":
        if (event.parent_run_id !== null) judgeChild(event, wrong);
        else if (!event.queued) judgeBegin(ledger, event, wrong);
        break;
      case "subagent.started":
        if (ledgerOf(event.run_id).state.run?.parent_call_id !== event.tool_call_id) throw wrong("of another call");
        break;
      case "run.queued":
        if (event.queue_position !== placeOf(ledger)) throw wrong(`at ${event.queue_position} of the queue`);
        break;
      case "run.started":
        judgeBegin(ledger, runOf(ledger), wrong);
        break;
      case "run.paused":
        if (state.pause === null) throw wrong("paused without a request");
        break;
      case "run.pause_cancelled":
      case "run.resumed":
        if (state.pause && !isReleased(id)) throw wrong("nobody lets it go on");
        break;
      case "step.started":
      case "step.restarted":
        if (event.type === "step.started" && event.step_type === "model_call" && state.pause)
          throw wrong("a model call begins although a pause is requested");
        if (state.status === "paused" && goesOn) throw wrong("a step begins while the run is paused");
        if (closed.has(event.step_index)) throw wrong(`step ${event.step_index} was complete (P3)`);
        starts.set(event.step_index, (starts.get(event.step_index) ?? 0) + 1);
        if (event.type === "step.restarted" && event.reason?.code === "approved_again")
          again.set(event.step_index, (again.get(event.step_index) ?? 0) + 1);
        break;
      case "step.completed":
        if (closed.has(event.step_index)) throw wrong(`step ${event.step_index} ended twice (P3)`);
        if (!state.open.some((step) => step.step_index === event.step_index))
          throw wrong(`step ${event.step_index} was not open`);
        closed.add(event.step_index);
        break;
      case "tool.completed": {
        const call = state.calls.find((known) => known.id === event.tool_call_id);
        if (!call || isResolved(call)) throw wrong(`${event.tool_call_id} has a result already (P3)`);
        if (event.error?.code === "timeout" && ledger.unsafe.has(call.id))
          throw wrong("failed, as far as nobody knows (P4)");
        judgeSkill(ledger, call, event, wrong);
        break;
      }
      case "history.loaded":
      case "documents.attached":
      case "memory.retrieved":
        if (state.to_prepare[0] !== preparedBy[event.type]) throw wrong("not what is to be fetched next (P3)");
        break;
      case "handoff.completed": {
        const call = state.calls.find((known) => known.id === event.tool_call_id);
        if (call?.status !== "completed") throw wrong("its call was not made");
        if (requireRun(state).calls.some((known) => !isResolved(known)))
          throw wrong("before the calls beside it ended");
        if (state.handoffs.length >= limits.handoffs_per_run) throw wrong("one more than a run may have");
        break;
      }
      case "context.compacted":
        if (event.left_out <= (state.compacted?.left_out ?? 0)) throw wrong("leaves out no more than the one before");
        break;
      case "run.completed":
        if (state.status === "paused") throw wrong("although it is paused");
        if (callsUnknownTool(requireRun(state))) throw wrong("the model's calls were forgotten");
        if (unansweredMessages(state) > 0) throw wrong("a message of the user has no answer");
        break;
      case "run.failed":
        if (event.error.code === "internal_error") throw wrong("a bug stopped the loop");
        if (event.error.code === "crash_loop" && stalls < 3) throw wrong(`after ${stalls} stalls (P9)`);
        if (event.error.code === "action_expired" && at < state.waiting_since! + runOf(ledger).action_timeout_ms)
          throw wrong(`${event.error.code} too early`);
        if (event.error.code === "run_timeout" && at < state.started_at! + runOf(ledger).timeout_ms)
          throw wrong(`${event.error.code} too early`);
        if (event.error.code === "run_timeout" && ledger.begun < fixture().db.write.commits() && !fixture().goesOn(id))
          throw wrong("nobody went on with it (P2)");
    }
  }

  /** Checks that a skill is read in the version that the run has pinned. */
  function judgeSkill(
    { state }: Ledger,
    { tool, arguments: args }: ToolCall,
    { output, error }: Extract<RunEvent, { type: "tool.completed" }>,
    wrong: (what: string) => Found,
  ): void {
    if (error || (tool !== "load_skill" && tool !== "read_skill_file")) return;
    const { run } = requireRun(state);
    const [skill] = fixture().journal.snapshot(fixture().scope, run.agent_hash).skills ?? [];
    const path = tool === "load_skill" ? skillFile : String(args.path);
    if (!skill || !String(output).includes(skillTextOf(skill.version, path)))
      throw wrong(`${path} is not that of version ${skill?.version}`);
  }

  const queued = (): Ledger[] => [...ledgers.values()].filter(({ state }) => state.status === "queued");

  /** Returns the other unfinished runs of a thread. */
  const inThread = (id: string, thread_id: string | null): Ledger[] =>
    thread_id === null
      ? []
      : [...ledgers.values()].filter(
          (other) => other.id !== id && other.state.run?.thread_id === thread_id && !isOver(other.state.status),
        );

  /** True if another run of its thread must end before it begins. */
  const isBehind = (ledger: Ledger): boolean =>
    inThread(ledger.id, runOf(ledger).thread_id).some(({ id, state }) => state.status !== "queued" || id < ledger.id);

  /** Returns the runs that wait only for a slot. */
  const forSlot = (): Ledger[] => queued().filter((ledger) => !isBehind(ledger));

  /** Returns a run's position in the queue: that of its thread, or that of all runs that wait for a slot. */
  function placeOf(ledger: Ledger): number {
    const line = inThread(ledger.id, runOf(ledger).thread_id);
    if (line.length === 0) return forSlot().length + 1;
    return line.filter(({ state }) => state.status === "queued").length + 1;
  }

  /**
   * Checks the queue: it keeps its order, and no run begins on a slot that is taken or reserved, or in a thread with a
   * run in progress.
   */
  function judgeBegin({ id, state }: Ledger, { thread_id }: RunCreated, wrong: (what: string) => Found): void {
    const waiting = forSlot();
    const isNext = waiting[0]?.id === id;
    if (state.status === "queued" && !isNext) throw wrong(`before ${short(waiting[0]!.id)}, which came first`);
    const others = [...ledgers.values()].filter(
      (other) => other.id !== id && other.state.status === "in_progress" && runOf(other).parent_run_id === null,
    );
    const before = others.length + (isNext ? 0 : waiting.length);
    if (before >= slots) throw wrong(`while ${before} are in progress or wait for it, of ${slots}`);
    const ahead = inThread(id, thread_id).find((other) => other.state.status !== "queued" || !isNext);
    if (ahead) throw wrong(`while ${short(ahead.id)} of its thread is ${ahead.state.status}`);
  }

  /** Checks that each agent call has one run, and that its parent is in progress. */
  function judgeChild({ run_id, parent_run_id, parent_call_id, depth }: RunCreated, wrong: (what: string) => Found) {
    const parent = requireRun(ledgerOf(parent_run_id!).state);
    if (parent.status !== "in_progress") throw wrong(`its parent is ${parent.status}`);
    if (depth !== (parent.run.depth ?? 0) + 1 || depth > limits.agent_depth) throw wrong(`at depth ${depth}`);
    for (const { id, state } of ledgers.values())
      if (id !== run_id && state.run?.parent_call_id === parent_call_id) throw wrong("the second one of its call (P3)");
  }

  /**
   * Checks a run while no loop works: a run that waits for a child waits for what the child waits for, and no
   * descendant of an ended run works.
   */
  function judgeTree({ id, ...ledger }: Ledger): void {
    if (fixture().owes(id)) return;
    const state = requireRun(ledger.state);
    const { parent_run_id } = state.run;
    const parent = parent_run_id === null ? null : ledgerOf(parent_run_id);
    if (parent && isOver(parent.state.status) && !isOver(state.status))
      throw found(`${short(id)}: is ${state.status}, its parent ${parent.state.status}`);
    if (state.status !== "requires_action") return;
    for (const { child } of pendingCalls(state)) {
      const asks = (child && ledgerOf(child.run_id).state.required_action?.submit_tool_outputs.tool_calls) ?? [];
      if (child?.waits_for.map((call) => call.id).join() !== asks.map((call) => call.id).join() && child)
        throw found(`${short(id)}: does not know what ${short(child.run_id)} asks for`);
    }
  }

  /**
   * Checks that the loop's state, as the model sees it, is the fold of the journal, and that one start makes one
   * request.
   */
  function modelAsked(id: string, attempt: number, pinned: AgentSnapshot, model: string, request: ModelRequest): void {
    world.note(`${short(id)} attempt ${attempt} asks ${model}`);
    const begun = startOf(id, attempt);
    // A call that a message has ended is not made any more.
    const isNew = begun && !isEnded(id) && !ledgerOf(id).asked.has(`${attempt}.${begun.anchor}`);
    if (!isNew && told.delete(id)) return; // Once, and the answer is discarded.
    const { asked, ...ledger } = ledgerOf(id);
    const state = requireRun(ledger.state);
    if (isOver(state.status) || attempt !== state.attempt) return; // A loop that does not know it yet.
    if (state.status === "paused") throw found(`${short(id)}: asks a model while it is paused`);
    if (state.stalls >= 3) throw found(`${short(id)}: goes on after ${state.stalls} crashes (P9)`);
    const step = startOf(id, attempt);
    if (!step) throw found(`${short(id)}: the model was asked without a start`);
    if (asked.has(`${attempt}.${step.anchor}`)) throw found(`${short(id)}: one start, two questions (P3)`);
    asked.add(`${attempt}.${step.anchor}`);
    if (model !== state.model) throw found(`${short(id)}: ${model} is asked, and its record says ${state.model}`);
    judgePinned(id, pinned);
    const agent = activeAgent(state, pinned);
    if (step.step_type === "model_call") judgeOffered(ledgerOf(id), state, agent, request);
    const due =
      step.step_type === "compaction"
        ? summaryDue(state, agent)
        : withPromptCaching(requestForModel(state, agent), agent, state.run);
    if (!equalJson(request, due)) throw found(`${short(id)}: the loop's state is another one`);
    if (step.step_type === "model_call" && forgetsThread(state, request))
      throw found(`${short(id)}: its handoff has forgotten what was said before`);
  }

  /** True if a message has ended the open model call of this run. */
  const isEnded = (id: string): boolean => isInterrupted(requireRun(ledgerOf(id).state));

  /** Checks that a run keeps the version of its agent, whatever happens to labels and processes. */
  function judgePinned(id: string, pinned: AgentSnapshot): void {
    const ledger = ledgerOf(id);
    const { agent_version, agent_id } = runOf(ledger);
    ledger.pinned ??= pinned;
    if (pinned.version !== agent_version || !equalJson(pinned, ledger.pinned))
      throw found(`${short(id)}: began with version ${agent_version}, and goes on with another agent`);
    if (agent_id === releasedAgent && pinned.instructions !== instructionsOf(agent_version))
      throw found(`${short(id)}: version ${agent_version} has the instructions of another one`);
  }

  /** Checks that a model is offered what its searches found, and that no tool changes its place or is unloaded. */
  function judgeOffered(
    { id, offered }: Ledger,
    { calls }: RunState,
    agent: AgentSnapshot,
    { tools }: ModelRequest,
  ): void {
    if (!searchToolOf(agent)) return;
    const names = tools.map(({ name }) => name);
    const before = offered.get(agent.id) ?? [];
    if (before.some((name, at) => names[at] !== name)) throw found(`${short(id)}: ${before} became ${names}`);
    offered.set(agent.id, names);
    const results = calls.filter(({ type, status }) => type === "tool_search" && status === "completed");
    const loaded = results.flatMap(({ output }) => (output as { tools: { name: string }[] }).tools);
    // Another agent may have found tools that this one does not have.
    for (const { name } of loaded.filter((each) => agent.tools.some((own) => own.name === each.name)))
      if (!names.includes(name)) throw found(`${short(id)}: ${name} was found and is not offered`);
  }

  /** Returns the start of a model call that the journal has for this attempt. */
  function startOf(id: string, attempt: number) {
    const open = ledgers.get(id)?.state.open ?? [];
    return open.find(
      ({ step_type, run_attempt }) =>
        run_attempt === attempt && (step_type === "model_call" || step_type === "compaction"),
    );
  }

  /**
   * Checks a tool request: intent before effect, one request per start at most, no repetition of unsafe calls (P3, P4).
   */
  function toolAsked(id: string, attempt: number, call: ToolCall, tool: ToolSnapshot): void {
    const { state, starts, requests, again, unsafe } = ledgerOf(id);
    const count = (requests.get(call.id) ?? 0) + 1;
    world.note(`${short(id)} attempt ${attempt} calls ${tool.name} ${call.id.slice(-4)}, time ${count}`);
    requests.set(call.id, count);
    if (count > (starts.get(call.step_index) ?? 0)) throw found(`${short(id)}: ${tool.name} called without a start`);
    const times = 1 + (again.get(call.step_index) ?? 0);
    const isUnsafe = !tool.idempotent && tool.on_unknown !== "retry";
    if (isUnsafe) unsafe.add(call.id);
    if (isUnsafe && count > times) throw found(`${short(id)}: ${tool.name} was called ${count} times (P4)`);
    if (isOver(state.status) || attempt !== state.attempt) return;
    if (state.stalls >= 3) throw found(`${short(id)}: goes on after ${state.stalls} crashes (P9)`);
    if (state.status === "paused") throw found(`${short(id)}: ${tool.name} is called while the run is paused`);
    const step = state.open.find((open) => open.tool_call_id === call.id);
    if (state.pause && step?.attempt === 1 && step.anchor > state.pause.seq)
      throw found(`${short(id)}: ${tool.name} is called although a pause was requested before`);
    if (step?.run_attempt !== attempt) throw found(`${short(id)}: ${tool.name} was called without an intent`);
    const known = state.calls.find((one) => one.id === call.id)!;
    if (isResolved(known)) throw found(`${short(id)}: ${tool.name} was complete and is called again (P3)`);
    if (!equalJson(known.arguments, call.arguments)) throw found(`${short(id)}: ${tool.name} got other arguments`);
  }

  /** Notes that the process is about to die. */
  function dies(): void {
    const driven = [...ledgers.values()].filter(({ id, state }) => {
      return state.status === "in_progress" && state.stalls < 3 && fixture().pool.drives(id);
    });
    if (driven.length > 1) for (const { id } of driven) beside.add(id);
    else beside.clear();
  }

  /** Checks, while no loop works, that each run in progress waits for something that will come. */
  function idle(): void {
    for (const ledger of ledgers.values()) {
      const { id, state } = ledger;
      if (state.status === "in_progress" && !fixture().goesOn(id))
        throw found(`${short(id)}: in progress, and nobody goes on with it (P2)`);
      judgeTree(ledger);
    }
  }

  /** Returns the cost of a run: of its own steps, and of the children that ended. */
  function spent(id: string): RunUsage {
    const own = ledgerOf(id).entries.map((entry) =>
      entry.event.type === "tool.completed" ? { ...entry, event: { ...entry.event, usage: undefined } } : entry,
    );
    const children = [...ledgers.values()].filter((ledger) => runOf(ledger).parent_run_id === id);
    return children.reduce((sum, { state }) => addChildRun(sum, state.usage), fold(own).usage);
  }

  /** Checks the invariants of the end, when all work is done. */
  function rested(): void {
    for (const { id, state, entries } of ledgers.values()) {
      if (!isOver(state.status)) throw found(`${short(id)}: is ${state.status} for ever`);
      if (!equalJson(fold(fixture().journal.read(id)), state)) throw found(`${short(id)}: another fold, another state`);
      if (state.calls.some((call) => !isResolved(call))) throw found(`${short(id)}: a call has no end`);
      if (entries.length !== state.seq) throw found(`${short(id)}: ${entries.length} entries, seq ${state.seq}`);
      if (!equalJson(spent(id), state.usage)) throw found(`${short(id)}: does not count what those below it have cost`);
    }
    const count = (sql: string) => fixture().db.sqlite.query<{ n: number }, []>(sql).get()!.n;
    const left = {
      driven: fixture().pool.driving(),
      "of the slots": sum([fixture().slots.taken(fixture().scope), ...fixture().slots.takenBelow(fixture().scope)]),
      "in progress": fixture().runs.inProgress(fixture().scope),
      "waiting for somebody": count("SELECT count(*) AS n FROM pending_calls"),
      watched: fixture().watches.size(),
    };
    if (!fixture().gate.isOpen()) throw found("somebody is tried for ever");
    for (const [what, n] of Object.entries(left)) if (n > 0) throw found(`${n} left ${what}`);
  }

  return {
    ledgers,
    /** Has each event judged, before it changes its run's state. */
    judgedBy: (judge: (ledger: Ledger, event: RunEvent) => void) => void judges.push(judge),
    committed,
    modelAsked,
    toolAsked,
    /** Notes that the loop of this run was notified of a commit that then failed. */
    toldInVain: (id: string): void => void told.add(id),
    /** Notes that a client asks a run to go on, with the runs below it. */
    releases: (id: string): void => void released.add(id),
    dies,
    idle,
    rested,
    found,
    /** Throws the kept fault, which the product may have caught. */
    complain(): void {
      if (fault) throw fault;
    },
  };
}

const runOf = ({ state }: Ledger): RunCreated => requireRun(state).run;

/** True if an answer calls a tool that the run does not know. */
const callsUnknownTool = ({ messages, calls }: RunState): boolean =>
  messages
    .flatMap((message) => (message.role === "assistant" ? message.parts : []))
    .some((part) => part.type === "tool_call" && !calls.some(({ id }) => id === part.id));

/** True if the prompt after handoffs that let all through lacks something of the thread or the input. */
function forgetsThread({ handoffs, history, run, compacted }: RunState, { messages }: ModelRequest): boolean {
  if (handoffs.length === 0) return false;
  const prompt = JSON.stringify(messages);
  if (!prompt.includes(JSON.stringify(run.input).slice(1, -1))) return true;
  const isWhole = !compacted && handoffs.every((handoff) => handoff.filter === "all" && !handoff.compacted);
  const said = history.flatMap((message) => (message.role === "user" ? [message.content] : []));
  return isWhole && said.some((text) => !prompt.includes(JSON.stringify(text).slice(1, -1)));
}

const begins = new Set<string>(["run.started", "run.resumed"]);

const preparedBy = {
  "history.loaded": "history",
  "documents.attached": "documents",
  "memory.retrieved": "retrieval",
} as const;

const summaryDue = (state: RunState, agent: AgentSnapshot): ModelRequest =>
  summaryRequest(state, agent, planContext(state, agent) as Exclude<ContextPlan, { do: "fail" }>);

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Number of runs that may be driven at once; low, so that some wait for others. */
export const slots = 2;

export const short = (id: string): string => `run …${id.slice(-4)}`;

function detail(event: RunEvent): string {
  if (event.type === "run.recovered") return ` attempt ${event.attempt}`;
  if (event.type === "run.failed") return ` ${event.error.code}`;
  if (event.type === "tool.completed") return ` ${event.tool} ${event.status}`;
  if ("step_index" in event) return ` ${event.step_index}`;
  return "";
}
