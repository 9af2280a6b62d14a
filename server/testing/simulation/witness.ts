import type { AgentSnapshot, ToolSnapshot } from "../../core/agent-snapshot.ts";
import { type ContextPlan, planContext } from "../../core/context.ts";
import { equalJson } from "../../core/equal.ts";
import { limits } from "../../core/limits.ts";
import type { ModelRequest } from "../../core/model-call.ts";
import { modelRequest } from "../../core/prompt.ts";
import { endsRun, type JournalEntry, type RunCreated, type RunEvent, type RunUsage } from "../../core/run-event.ts";
import {
  apply,
  fold,
  initialState,
  isOver,
  isResolved,
  pendingCalls,
  type RunState,
  type ToolCall,
} from "../../core/run-state.ts";
import { summaryRequest } from "../../core/summary.ts";
import { addChildRun } from "../../core/usage.ts";
import type { runFixture } from "../run-fixture.ts";
import { Found, type World } from "./world.ts";

export type Fixture = ReturnType<typeof runFixture>;

/** What is known of one run from its commits, and from what models and tools were asked. */
export interface Ledger {
  id: string;
  entries: JournalEntry[];
  state: RunState;
  /** How often each step was begun, and who of them has ended. */
  starts: Map<number, number>;
  closed: Set<number>;
  /** Requests that tools got, by call; and model calls, by attempt of the run and start of the step. */
  requests: Map<string, number>;
  asked: Set<string>;
  /** Calls that may not be repeated, once they were made. */
  unsafe: Set<string>;
  /** How often a person said to run a call again. */
  again: Map<number, number>;
  /** How many commits there had been when it got into progress: whoever goes on with it hears of it afterwards. */
  begun: number;
}

export type Witness = ReturnType<typeof createWitness>;

/** Watches every commit and every effect, and throws `Found` at the first broken promise. */
export function createWitness(world: World, fixture: () => Fixture) {
  const ledgers = new Map<string, Ledger>();
  /** Those that were not alone when the process died, until they are recovered: nobody can say that it was them. */
  const beside = new Set<string>();
  let fault: Error | null = null;
  /** Faults are found in the middle of the product's own work, which might catch them: they are kept. */
  const found = (message: string): Found => {
    const error = new Found(message);
    fault ??= error;
    return error;
  };

  // Whose loop was told of a commit that failed: its model may be asked once without a start.
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
      begun: 0,
    };
    ledgers.set(id, fresh);
    return fresh;
  }

  /**
   * Takes in what was committed, write by write: `apply` itself refuses a gap, and whatever follows the end (P6, P7).
   * The journal may be ahead: a commit holds several writes, and what a run did in a later one says nothing of this one.
   */
  function committed(id: string, entries: readonly JournalEntry[]): void {
    const ledger = ledgerOf(id);
    const { stalls: before } = ledger.state; // The end of a run closes its steps first, which looks like progress.
    const goesOn = !endsRun(entries.at(-1)!.event);
    for (const entry of entries) {
      world.note(`${short(id)} #${entry.seq} ${entry.event.type}${detail(entry.event)}`);
      judge(ledger, entry, before, goesOn);
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
        // Who is cancelled, or has no time left, ends for that and not for the crash.
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
        judgeBegin(ledger, state.run!, wrong);
        break;
      case "step.started":
      case "step.restarted":
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
        break;
      }
      case "history.loaded":
      case "documents.attached":
      case "memory.retrieved":
        if (state.to_prepare[0] !== preparedBy[event.type]) throw wrong("not what is to be fetched next (P3)");
        break;
      case "context.compacted":
        if (event.left_out <= (state.compacted?.left_out ?? 0)) throw wrong("leaves out no more than the one before");
        break;
      case "run.completed":
        if (asksInVain(state)) throw wrong("the model's calls were forgotten");
        break;
      case "run.failed":
        if (event.error.code === "internal_error") throw wrong("a bug stopped the loop");
        if (event.error.code === "crash_loop" && stalls < 3) throw wrong(`after ${stalls} stalls (P9)`);
        if (event.error.code === "action_expired" && at < state.waiting_since! + state.run!.action_timeout_ms)
          throw wrong(`${event.error.code} too early`);
        if (event.error.code === "run_timeout" && at < state.started_at! + state.run!.timeout_ms)
          throw wrong(`${event.error.code} too early`);
        if (event.error.code === "run_timeout" && ledger.begun < fixture().db.write.commits() && !fixture().goesOn(id))
          throw wrong("nobody went on with it (P2)");
    }
  }

  const queued = (): Ledger[] => [...ledgers.values()].filter(({ state }) => state.status === "queued");

  /** The other runs of a thread that are not over. */
  const inThread = (id: string, thread_id: string | null): Ledger[] =>
    thread_id === null
      ? []
      : [...ledgers.values()].filter(
          (other) => other.id !== id && other.state.run?.thread_id === thread_id && !isOver(other.state.status),
        );

  /** Whether another run of its thread is to end before it begins. */
  const isBehind = ({ id, state }: Ledger): boolean =>
    inThread(id, state.run!.thread_id).some((other) => other.state.status !== "queued" || other.id < id);

  /** Those that wait for nothing but a slot. */
  const forSlot = (): Ledger[] => queued().filter((ledger) => !isBehind(ledger));

  /** Which place a run gets: in the line of its thread, or in that of all who wait for a slot. */
  function placeOf(ledger: Ledger): number {
    const line = inThread(ledger.id, ledger.state.run!.thread_id);
    if (line.length === 0) return forSlot().length + 1;
    return line.filter(({ state }) => state.status === "queued").length + 1;
  }

  /**
   * The queue moves in its order, nobody begins on a slot that is taken or that somebody waits for, nor in a thread in
   * which another run is under way.
   */
  function judgeBegin({ id, state }: Ledger, { thread_id }: RunCreated, wrong: (what: string) => Found): void {
    const waiting = forSlot();
    const isNext = waiting[0]?.id === id;
    if (state.status === "queued" && !isNext) throw wrong(`before ${short(waiting[0]!.id)}, which came first`);
    const others = [...ledgers.values()].filter(
      (other) => other.id !== id && other.state.status === "in_progress" && other.state.run!.parent_run_id === null,
    );
    const before = others.length + (isNext ? 0 : waiting.length);
    if (before >= slots) throw wrong(`while ${before} are in progress or wait for it, of ${slots}`);
    const ahead = inThread(id, thread_id).find((other) => other.state.status !== "queued" || !isNext);
    if (ahead) throw wrong(`while ${short(ahead.id)} of its thread is ${ahead.state.status}`);
  }

  /** One run for each call of an agent, for a parent that is at work. */
  function judgeChild({ run_id, parent_run_id, parent_call_id, depth }: RunCreated, wrong: (what: string) => Found) {
    const parent = ledgerOf(parent_run_id!).state;
    if (parent.status !== "in_progress") throw wrong(`its parent is ${parent.status}`);
    if (depth !== (parent.run!.depth ?? 0) + 1 || depth > limits.agent_depth) throw wrong(`at depth ${depth}`);
    for (const { id, state } of ledgers.values())
      if (id !== run_id && state.run?.parent_call_id === parent_call_id) throw wrong("the second one of its call (P3)");
  }

  /** Nobody is at work: who waits for a child waits for what that one waits for, and nobody works for a run that is over. */
  function judgeTree({ id, state }: Ledger): void {
    if (fixture().owes(id)) return;
    const { parent_run_id } = state.run!;
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

  /** The loop's state, as the model sees it, is the fold of the journal; and one start is one request. */
  function modelAsked(id: string, attempt: number, agent: AgentSnapshot, request: ModelRequest): void {
    world.note(`${short(id)} attempt ${attempt} asks the model`);
    const begun = startOf(id, attempt);
    const isNew = begun && !ledgerOf(id).asked.has(`${attempt}.${begun.anchor}`);
    if (!isNew && told.delete(id)) return; // Once, and nobody hears what it says.
    const { state, asked } = ledgerOf(id);
    if (isOver(state.status) || attempt !== state.attempt) return; // A loop that nobody has told yet.
    if (state.stalls >= 3) throw found(`${short(id)}: goes on after ${state.stalls} crashes (P9)`);
    const step = startOf(id, attempt);
    if (!step) throw found(`${short(id)}: the model was asked without a start`);
    if (asked.has(`${attempt}.${step.anchor}`)) throw found(`${short(id)}: one start, two questions (P3)`);
    asked.add(`${attempt}.${step.anchor}`);
    const due = step.step_type === "compaction" ? summaryDue(state, agent) : modelRequest(state, agent);
    if (!equalJson(request, due)) throw found(`${short(id)}: the loop's state is another one`);
  }

  /** The start of a model call that is on record of this attempt. */
  function startOf(id: string, attempt: number) {
    const open = ledgers.get(id)?.state.open ?? [];
    return open.find(
      ({ step_type, run_attempt }) =>
        run_attempt === attempt && (step_type === "model_call" || step_type === "compaction"),
    );
  }

  /** Intent before effect; each start one request at most; what may not be repeated is not (P3, P4). */
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
    const step = state.open.find((open) => open.tool_call_id === call.id);
    if (step?.run_attempt !== attempt) throw found(`${short(id)}: ${tool.name} was called without an intent`);
    const known = state.calls.find((one) => one.id === call.id)!;
    if (isResolved(known)) throw found(`${short(id)}: ${tool.name} was complete and is called again (P3)`);
    if (!equalJson(known.arguments, call.arguments)) throw found(`${short(id)}: ${tool.name} got other arguments`);
  }

  /** The process is about to die. */
  function dies(): void {
    const driven = [...ledgers.values()].filter(({ id, state }) => {
      return state.status === "in_progress" && state.stalls < 3 && fixture().pool.drives(id);
    });
    if (driven.length > 1) for (const { id } of driven) beside.add(id);
    else beside.clear();
  }

  /** Nobody is at work: each run that is in progress waits for something that will come. */
  function idle(): void {
    for (const ledger of ledgers.values()) {
      const { id, state } = ledger;
      if (state.status === "in_progress" && !fixture().goesOn(id))
        throw found(`${short(id)}: in progress, and nobody goes on with it (P2)`);
      judgeTree(ledger);
    }
  }

  /** What a run has cost by its own steps, and by the ends of those that it started. */
  function spent(id: string): RunUsage {
    const own = ledgerOf(id).entries.map((entry) =>
      entry.event.type === "tool.completed" ? { ...entry, event: { ...entry.event, usage: undefined } } : entry,
    );
    const children = [...ledgers.values()].filter(({ state }) => state.run!.parent_run_id === id);
    return children.reduce((sum, { state }) => addChildRun(sum, state.usage), fold(own).usage);
  }

  /** What must hold when everybody has come to rest. */
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
    committed,
    modelAsked,
    toolAsked,
    /** The loop of this run was told of a commit that failed then. */
    toldInVain: (id: string): void => void told.add(id),
    dies,
    idle,
    rested,
    found,
    /** Throws what was found and perhaps caught by the product. */
    complain(): void {
      if (fault) throw fault;
    },
  };
}

/** Whether an answer asks for a call that the run does not know. */
const asksInVain = ({ messages, calls }: RunState): boolean =>
  messages
    .flatMap((message) => (message.role === "assistant" ? message.parts : []))
    .some((part) => part.type === "tool_call" && !calls.some(({ id }) => id === part.id));

const begins = new Set<string>(["run.started", "run.resumed"]);

const preparedBy = {
  "history.loaded": "history",
  "documents.attached": "documents",
  "memory.retrieved": "retrieval",
} as const;

const summaryDue = (state: RunState, agent: AgentSnapshot): ModelRequest =>
  summaryRequest(state, agent, planContext(state, agent) as Exclude<ContextPlan, { do: "fail" }>);

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** How many runs may be driven at once, so that some have to wait for others. */
export const slots = 2;

export const short = (id: string): string => `run …${id.slice(-4)}`;

function detail(event: RunEvent): string {
  if (event.type === "run.recovered") return ` attempt ${event.attempt}`;
  if (event.type === "run.failed") return ` ${event.error.code}`;
  if (event.type === "tool.completed") return ` ${event.tool} ${event.status}`;
  if ("step_index" in event) return ` ${event.step_index}`;
  return "";
}
