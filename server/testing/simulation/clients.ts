import {
  type AgentSnapshot,
  type ContextPolicy,
  contextStrategies,
  type MemoryPolicy,
  type PinnedStore,
  type ToolSnapshot,
} from "../../domain/agent-snapshot.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Needs, RunEvent } from "../../domain/run-event.ts";
import { apply, fold, isOver, pendingCalls, type RunState, requireRun } from "../../domain/run-state.ts";
import { steeredMost, unansweredMessages } from "../../domain/steering.ts";
import type { ToolAnswer } from "../../domain/submit.ts";
import { agentTool, handoffTool, httpTool, teamMember, tool } from "../run-fixture.ts";
import { type Fixture, type Ledger, short, type Witness } from "./witness.ts";
import { Found, type World } from "./world.ts";

/** Body of a `submit_tool_outputs` request, which may be sent several times. */
interface Submission {
  run: string;
  answers: ToolAnswer[];
  /** Expected error code; null: none, `any`: any of them. */
  refusal: string | null;
  /** Number of requests without an answer, because the process died. */
  unanswered: number;
  accepted: boolean;
}

/** A message to a run that is under way. */
interface Steered {
  run: string;
  content: string;
  accepted: boolean;
}

/** A request to pause or to resume a run that has no answer yet. */
interface PauseRequest {
  run: string;
  isPaused: boolean;
  /** The process that it was sent to. */
  process: unknown;
  /** True if a request for the opposite was under way at the same time. */
  isCrossed: boolean;
}

const url = "http://tools.invalid/";
const safe = httpTool("safe", url, { idempotent: true });
const once = httpTool("once", url);
const look = tool("look");
const sign = tool("sign", { approval: "always" });
const delegate = agentTool("delegate", "agt_helper");
const tools: ToolSnapshot[] = [
  safe,
  once,
  httpTool("again", url, { on_unknown: "retry" }),
  httpTool("tell", url, { on_unknown: "report" }),
  httpTool("gated", url, { approval: "always" }),
  look,
  sign,
];
/** Agents to which runs are handed over; they hand on and back. */
const toClerk = handoffTool("agt_clerk");
const team: AgentSnapshot[] = [
  teamMember("agt_clerk", [], {
    tools: [safe, look, sign, handoffTool("agt_fixture", "no_tool_calls"), handoffTool("agt_expert", { messages: 3 })],
    max_turns: 3,
  }),
  teamMember("agt_expert", [], { tools: [once, toClerk], max_turns: 2, model: "test/echo" }),
];
const agentTools = [delegate, agentTool("entrust", "agt_deputy", { approval: "always" })];

const notes: PinnedStore = {
  memory_id: "mem_notes",
  name: "Notes",
  kind: "vector",
  scope: "project",
  access: "read",
  auto_retrieve: true,
  top_k: 6,
  score_threshold: 0,
};

/** Memory of an agent, and its strategy when the context is too long. */
const memory = (strategy: ContextPolicy["strategy"], stores = [notes]): MemoryPolicy<PinnedStore> => ({
  stores,
  history: { mode: "thread", max_messages: 50 },
  context: { strategy, reserve_output_tokens: 50, tool_output_max_bytes: 1000 },
});

/** Agents that runs call, by id: one that makes many calls, and one that calls others of its kind. */
export const helpers: Record<string, Partial<AgentSnapshot>> = {
  agt_helper: { tools: [safe, once, look, sign], max_turns: 3, memory: memory("compact") },
  agt_deputy: { tools: [look, delegate, agentTool("pass_on", "agt_deputy")], max_turns: 2 },
};

/** Clients that start, answer (well or badly) and cancel runs; each checks the result. */
export function createClients(world: World, witness: Witness, fixture: () => Fixture) {
  const { ledgers, found } = witness;
  const submissions: Submission[] = [];
  const steered: Steered[] = [];
  const pauseRequests = new Set<PauseRequest>();
  const acknowledged = new Set<string>();
  const threads = [newId("thread"), newId("thread")];
  let marks = 0;
  let attempts = 0;

  const waiting = (): Ledger[] => [...ledgers.values()].filter(({ state }) => state.status === "requires_action");

  async function create(): Promise<void> {
    world.note("client: create");
    attempts++;
    const remembers = world.chance(0.4);
    const agent = {
      max_turns: 1 + world.int(5),
      ...(remembers && { memory: memory(world.pick(contextStrategies), world.chance(0.5) ? [notes] : []) }),
      ...(world.chance(0.3) && { models: ["test/script", "test/echo"] }),
      ...(world.chance(0.3) && { team }),
    };
    const on_concurrency_limit = world.pick(["reject", "queue"] as const);
    const if_thread_busy = world.pick(["reject", "queue", "cancel_previous"] as const);
    const timeouts = {
      timeout_ms: world.pick([60_000, 3_600_000]),
      action_timeout_ms: world.pick([60_000, 3_600_000]),
    };
    const run = {
      ...timeouts,
      on_concurrency_limit,
      ...(world.chance(0.4) && { thread_id: world.pick(threads), if_thread_busy }),
      ...(world.chance(0.1) && { file_ids: [newId("file")] }),
    };
    try {
      const { id } = await fixture().start([], {
        tools: [
          ...world.some(world.chance(0.4) ? [...tools, ...agentTools] : tools),
          ...("team" in agent ? [toClerk] : []),
        ],
        agent,
        run,
      });
      acknowledged.add(id);
      if (!ledgers.has(id)) throw found(`${short(id)} was acknowledged and is not recorded (P1)`);
    } catch (error) {
      if (!(error instanceof AppError)) return;
      const mayRefuse =
        error.code === "thread_busy"
          ? run.if_thread_busy === "reject"
          : error.code === "concurrency_limit_exceeded" && on_concurrency_limit === "reject";
      if (!mayRefuse) throw found(`create: ${error.code}`);
    }
  }

  /** Sends a message to a run. Its text occurs once in the world. */
  async function steer(ledger: Ledger): Promise<void> {
    const { id } = ledger;
    const from = ledger.entries.length;
    const message: Steered = { run: id, content: mark(), accepted: false };
    const interrupt = world.chance(0.4);
    steered.push(message);
    world.note(`client: steer ${short(id)} ${message.content}${interrupt ? " at once" : ""}`);
    try {
      await fixture().service.steer(fixture().scope, id, { content: message.content, interrupt });
      message.accepted = true;
    } catch (error) {
      if (!(error instanceof AppError)) return;
      const { status } = ledger.state;
      const isRight = error.code === "run_already_terminal" ? isOver(status) : error.code === "run_not_steerable";
      // A handoff may give the run further model calls after the message was refused.
      if (!isRight || (error.code === "run_not_steerable" && !statesSince(ledger, from).some(takesNoMessage)))
        throw found(`${short(id)}: message to a run that is ${status}: ${error.code}`);
    }
  }

  /** Checks that each message is in its run once if it was taken, and otherwise at most once. */
  function judgeSteered(): void {
    for (const { run, content, accepted } of steered) {
      const { entries, state } = ledgers.get(run)!;
      const events = entries.filter(({ event }) => event.type === "run.steered" && event.content === content).length;
      const messages = state.messages.filter((one) => one.role === "user" && one.content === content).length;
      if (events > 1 || messages !== events) throw found(`${short(run)}: ${content} was taken ${events} times (P8)`);
      if (accepted && events === 0) throw found(`${short(run)}: ${content} was taken and lost (P1)`);
    }
  }

  async function cancel({ id, state }: Ledger): Promise<void> {
    world.note(`client: cancel ${short(id)}`);
    const before = state.status;
    try {
      await fixture().service.cancel(fixture().scope, id, "because");
      if (ledgers.get(id)!.state.status !== "cancelled") throw found(`${short(id)}: cancelled, and it is not (P7)`);
    } catch (error) {
      if (!(error instanceof AppError)) return;
      const { status } = ledgers.get(id)!.state;
      if (error.code !== "run_already_terminal" || status === "cancelled" || before === "cancelled" || !isOver(status))
        throw found(`${short(id)}: cancel of ${status}: ${error.code}`);
    }
  }

  /** Pauses a run, or lets it go on; both may be repeated. */
  async function setPause(ledger: Ledger, isPaused: boolean): Promise<void> {
    const { id } = ledger;
    world.note(`client: ${isPaused ? "pause" : "resume"} ${short(id)}`);
    const { service, scope } = fixture();
    const from = ledger.entries.length;
    const request = openPauseRequest({ run: id, isPaused, process: service, isCrossed: false });
    try {
      await (isPaused ? service.pause(scope, id, "because") : service.resume(scope, id));
      const { status } = ledger.state;
      // Its opposite may be in the same commit, behind it.
      const states = request.isCrossed ? statesSince(ledger, from) : [requireRun(ledger.state)];
      if (!isOver(status) && !states.some(({ pause }) => isPaused === (pause !== null)))
        throw found(`${short(id)}: ${isPaused ? "paused" : "resumed"}, and it is ${status} (P7)`);
    } catch (error) {
      if (!(error instanceof AppError)) return;
      const { status } = ledgers.get(id)!.state;
      if (error.code !== "run_already_terminal" || !isOver(status))
        throw found(`${short(id)}: pause of ${status}: ${error.code}`);
    } finally {
      pauseRequests.delete(request);
    }
  }

  /** Notes a request without an answer yet, and which requests for the opposite are under way with it. */
  function openPauseRequest(request: PauseRequest): PauseRequest {
    for (const other of pauseRequests) {
      const { run, isPaused, process } = request;
      if (other.run !== run || other.isPaused === isPaused || other.process !== process) continue;
      [other.isCrossed, request.isCrossed] = [true, true];
    }
    pauseRequests.add(request);
    return request;
  }

  /** Answers a run in one of the ways that clients do, valid or invalid. */
  function answer(ledger: Ledger, well = false): void {
    const calls = ledger.state.required_action!.submit_tool_outputs.tool_calls;
    const right = (list = calls) => list.map(({ id, needs }) => answerTo(id, needs));
    const output = calls.find(({ needs }) => needs === "output");
    const answered = ledger.state.calls.find(({ submitted, status }) => submitted && status === "completed");
    const fate = well ? 0 : world.random();
    if (fate < 0.55) submit(ledger, right());
    else if (fate < 0.7) submit(ledger, right(world.some(calls)));
    else if (fate < 0.78) resend(submit(ledger, right()));
    else if (fate < 0.86) submit(ledger, [...right(), foreign(ledger)], "tool_call_not_found");
    else if (fate < 0.93 && output)
      submit(ledger, [...right(calls.filter((call) => call !== output)), wrong(output.id)], "any");
    else if (answered) submit(ledger, [...right(), answerTo(answered.id, "output")], "tool_call_already_resolved");
    else submit(ledger, right());
  }

  const mark = () => `<mark ${++marks}>`;

  function answerTo(tool_call_id: string, needs: Needs): ToolAnswer {
    const decide = needs === "approval" || (needs === "reconcile" && world.chance(0.5));
    if (decide && world.chance(0.3)) return { tool_call_id, decision: "reject", reason: mark() };
    if (decide && world.chance(0.3))
      return { tool_call_id, decision: "approve", reason: mark(), arguments: { n: world.int(9) } };
    if (decide) return { tool_call_id, decision: "approve", reason: mark() };
    return { tool_call_id, output: mark(), ...(world.chance(0.2) && { is_error: true }) };
  }

  /** Returns a decision where an output is required. */
  const wrong = (tool_call_id: string): ToolAnswer => ({ tool_call_id, decision: "reject", reason: mark() });

  /** True if a run is `root` or one of its descendants. */
  const isWithin = (id: string | null, root: string): boolean =>
    id !== null && (id === root || isWithin(ledgers.get(id)?.state.run?.parent_run_id ?? null, root));

  /** Returns an answer to a call of an unrelated run, or to a call that does not exist. */
  function foreign({ id }: Ledger): ToolAnswer {
    const others = [...ledgers.values()].filter((other) => !isWithin(other.id, id) && other.state.calls.length > 0);
    const call = others.length > 0 ? world.pick(world.pick(others).state.calls).id : newId("tool_call");
    return { tool_call_id: call, output: mark() };
  }

  function submit({ id }: Ledger, answers: ToolAnswer[], refusal: string | null = null): Submission {
    const submission: Submission = { run: id, answers, refusal, unanswered: 0, accepted: false };
    submissions.push(submission);
    resend(submission);
    return submission;
  }

  /** Returns the entries of a run and of its descendants. */
  const entriesWithin = (run: string) =>
    [...ledgers.values()].filter(({ id }) => isWithin(id, run)).flatMap(({ entries }) => entries);

  /** Returns the number of these answers in the journal; each is found by its unique mark. */
  function recorded({ run }: Submission, answers: readonly ToolAnswer[]): number {
    const text = JSON.stringify(entriesWithin(run).map(({ event }) => wordsOf(event)));
    return answers.filter(({ reason, output }) => text.includes(reason ?? (output as string))).length;
  }

  /** Sends a body for the first time or again: a success must be repeated (P8). */
  function resend(submission: Submission): void {
    const { run, answers, refusal, accepted: before } = submission;
    world.note(`client: submit ${short(run)} ${JSON.stringify(answers)}`);
    submission.unanswered++;
    const told = async () => {
      try {
        await fixture().service.submit(fixture().scope, run, answers);
        submission.accepted = true;
        if (refusal) throw found(`${short(run)}: took what must be refused: ${refusal} (P8)`);
      } catch (error) {
        if (error instanceof Found) throw error;
        if (error instanceof AppError) refused(submission, error.code, before);
      }
      submission.unanswered--;
    };
    told().catch(() => {}); // The witness keeps the error.
  }

  function refused(submission: Submission, code: string, before: boolean): void {
    const { run, refusal } = submission;
    world.note(`client: refused ${code}`);
    const expected = refusal === "any" || refusal === code || (!refusal && raced.has(code));
    if (!expected) throw found(`${short(run)}: ${code} where ${refusal ?? "yes"} was due (P8)`);
    if (before && !askedAgain(submission)) throw found(`${short(run)}: yes at first, then ${code} (P8)`);
  }

  /** True if a call's outcome became unknown after this answer: the former success may no longer apply. */
  const askedAgain = ({ run, answers }: Submission): boolean =>
    answers.some(
      ({ tool_call_id }) =>
        entriesWithin(run).filter(({ event }) => event.type === "tool.requested" && event.call.id === tool_call_id)
          .length > 1,
    );

  return {
    acknowledged,
    attempts: () => attempts,
    waiting,
    create: () => void create().catch(() => {}), // The witness keeps the error.
    cancel: (ledger: Ledger) => void cancel(ledger).catch(() => {}),
    pause: (ledger: Ledger) => void setPause(ledger, true).catch(() => {}),
    resume: (ledger: Ledger) => void setPause(ledger, false).catch(() => {}),
    steer: (ledger: Ledger) => void steer(ledger).catch(() => {}),
    answer,
    /** Sends an old body again. */
    repeat(): void {
      if (submissions.length > 0) resend(world.pick(submissions));
    },
    /** Checks that the journal holds each body as a whole or not at all (P8). */
    rested(): void {
      for (const id of acknowledged) if (!ledgers.has(id)) throw found(`${short(id)} was lost (P1)`);
      judgeSteered();
      for (const submission of submissions) {
        const { run, answers, refusal, accepted, unanswered } = submission;
        const wrong = (what: string) => found(`${short(run)}: ${what} ${JSON.stringify(answers)} (P8)`);
        // A decision may have been made before, by another body.
        const outputs = answers.filter(({ decision }) => !decision);
        const taken = recorded(submission, answers);
        const whole = recorded(submission, outputs) === outputs.length;
        if (taken > 0 && refusal) throw wrong("refused and took");
        if (taken > 0 && !whole) throw wrong("took a part of");
        if (accepted && !whole) throw wrong("said yes and did not take");
        if (taken > 0 && !accepted && unanswered === 0) throw wrong("said no and took");
      }
    },
  };
}

/** Returns the states that a run has had since it had this number of entries. */
function statesSince({ entries }: Ledger, from: number): RunState[] {
  const states = [fold(entries.slice(0, from))];
  for (const entry of entries.slice(from)) states.push(apply(states.at(-1)!, entry));
  return states;
}

function takesNoMessage(state: RunState): boolean {
  const handsOver = pendingCalls(state).some(({ type }) => type === "handoff");
  return (state.turns >= state.run.max_turns && !handsOver) || unansweredMessages(state) >= steeredMost;
}

// Errors that clients may get when two of them answer the same run at once.
const raced = new Set<string>(["run_not_awaiting_action", "tool_call_already_resolved", "validation_failed"]);

/** Returns the part of an event that holds a client's text. */
function wordsOf(event: RunEvent): unknown {
  if (event.type === "tool.completed") return [event.output, event.error?.message];
  return event.type === "tool.decided" ? event.reason : null;
}
