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
import { limits } from "../../domain/limits.ts";
import type { Needs, RequiredCall, RunEvent } from "../../domain/run-event.ts";
import { apply, fold, isOver, type Message, pendingCalls, type RunState, requireRun } from "../../domain/run-state.ts";
import { steeredMost, unansweredMessages } from "../../domain/steering.ts";
import type { ToolAnswer } from "../../domain/submit.ts";
import { withToolSearch } from "../../domain/tool-search/search-tool.ts";
import type { CreateRun } from "../../runs/schema.ts";
import { agentTool, handoffTool, httpTool, teamMember, tool } from "../run-fixture.ts";
import { type Accounts, mailTool, users } from "./accounts.ts";
import { label, released } from "./released-agent.ts";
import type { Skills } from "./skills.ts";
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
  /** Null while it is unknown whether the server made a run or a message of it. */
  run: string | null;
  content: string;
  accepted: boolean;
  /** Messages of the run that were accepted before this one was sent. */
  before: string[];
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

const whenBusy = ["reject", "queue", "cancel_previous", "steer"] as const;
const url = "http://tools.invalid/";
const safe = httpTool("safe", url, { idempotent: true });
const once = httpTool("once", url);
const mail = httpTool(mailTool, url);
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
/** Agents to which runs are handed over; they hand on and back, and one searches for its tools. */
const toClerk = handoffTool("agt_clerk");
const team: AgentSnapshot[] = [
  withToolSearch(
    teamMember("agt_clerk", [], {
      tools: [
        safe,
        look,
        sign,
        handoffTool("agt_fixture", "no_tool_calls"),
        handoffTool("agt_expert", { messages: 3 }),
      ],
      max_turns: 3,
    }),
    "deferred",
  ),
  teamMember("agt_expert", [], { tools: [once, toClerk], max_turns: 2, model: "test/echo" }),
];
const consult: ToolSnapshot = { ...agentTool("consult", released), agent: { agent_id: released, label } };
const agentTools = [delegate, consult, agentTool("entrust", "agt_deputy", { approval: "always" })];

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
  agt_helper: { tools: [safe, once, look, sign, mail], max_turns: 3, memory: memory("compact") },
  agt_deputy: { tools: [look, delegate, agentTool("pass_on", "agt_deputy")], max_turns: 2 },
};

/** Clients that start, answer (well or badly) and cancel runs; each checks the result. */
export function createClients(
  world: World,
  skills: Skills,
  witness: Witness,
  accounts: Accounts,
  fixture: () => Fixture,
) {
  const { ledgers, found } = witness;
  const submissions: Submission[] = [];
  const steered: Steered[] = [];
  const pauseRequests = new Set<PauseRequest>();
  const acknowledged = new Set<string>();
  const threads = [newId("thread"), newId("thread")];
  let marks = 0;
  let attempts = 0;

  const waiting = (): Ledger[] => [...ledgers.values()].filter(({ state }) => state.status === "requires_action");

  /** Returns an agent with some of everything that agents can have. */
  function newAgent() {
    const pinned = world.chance(0.3) ? skills.pinned() : [];
    const hasTeam = world.chance(0.3);
    const own = [
      ...world.some(world.chance(0.4) ? [...tools, ...agentTools] : tools),
      ...(world.chance(0.6) ? [mail] : []),
      ...(hasTeam ? [toClerk] : []),
      ...skills.toolsOf(pinned),
    ];
    const loading = world.chance(0.3) ? "deferred" : "all";
    return {
      tools: withToolSearch(teamMember("agt_fixture", [], { tools: own }), loading).tools,
      agent: {
        max_turns: 1 + world.int(5),
        ...(world.chance(0.4) && {
          memory: memory(world.pick(contextStrategies), world.chance(0.5) ? [notes] : []),
        }),
        ...(world.chance(0.3) && { models: ["test/script", "test/echo"] }),
        ...(hasTeam && { team }),
        ...(pinned.length > 0 && { skills: pinned }),
      },
    };
  }

  /** Returns a request for a run, of this agent or of one with versions. */
  const newRun = (input: string): Partial<CreateRun> => ({
    input,
    timeout_ms: world.pick([60_000, 3_600_000]),
    action_timeout_ms: world.pick([60_000, 3_600_000]),
    on_concurrency_limit: world.pick(["reject", "queue"] as const),
    ...(world.chance(0.25) && {
      agent_id: released,
      ...(world.chance(0.8) ? { label } : { version: 1 + world.int(4) }),
    }),
    ...(world.chance(0.4) && { thread_id: world.pick(threads), if_thread_busy: world.pick(whenBusy) }),
    ...(world.chance(0.8) && { user_id: world.pick(users) }),
    ...(world.chance(0.1) && { file_ids: [newId("file")] }),
  });

  async function create(): Promise<void> {
    world.note("client: create");
    attempts++;
    // In a busy thread it may become a message of another run.
    const message: Steered = { run: null, content: mark(), accepted: false, before: [] };
    const run = newRun(message.content);
    steered.push(message);
    try {
      const { id } = await fixture().start([], { ...newAgent(), run });
      acknowledged.add(id);
      if (!ledgers.has(id)) throw found(`${short(id)} was acknowledged and is not recorded (P1)`);
      Object.assign(message, { run: id, accepted: true });
    } catch (error) {
      if (error instanceof AppError && !mayRefuse(run, error)) throw found(`create: ${error.code}`);
    }
  }

  /** Sends a message to a run. Its text occurs once in the world. */
  async function steer(ledger: Ledger): Promise<void> {
    const { id } = ledger;
    const from = ledger.entries.length;
    const before = steered.filter(({ run, accepted }) => accepted && run === id).map(({ content }) => content);
    const message: Steered = { run: id, content: mark(), accepted: false, before };
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

  /**
   * Checks that each message is in the conversation of its run once and in order if it was accepted, and otherwise at
   * most once.
   */
  function judgeSteered(): void {
    for (const { run, content, accepted, before } of steered) {
      const takers = [...ledgers.values()].flatMap((ledger) => Array(timesTaken(ledger, content)).fill(ledger));
      const [taker] = takers;
      if (takers.length > 1) throw found(`${content} was taken ${takers.length} times (P8)`);
      if (!taker && accepted) throw found(`${short(run!)}: ${content} was taken and lost (P1)`);
      if (!taker) continue;
      if (run !== null && taker.id !== run) throw found(`${content} went to ${short(taker.id)}, not ${short(run)}`);
      const said: string[] = taker.state.messages.flatMap((one: Message) => (one.role === "user" ? [one.content] : []));
      if (said.filter((text) => text === content).length !== 1)
        throw found(`${short(taker.id)}: ${content} is not in its conversation once (P8)`);
      if (before.some((earlier) => said.indexOf(earlier) > said.indexOf(content)))
        throw found(`${short(taker.id)}: ${content} came before one that was sent earlier`);
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
    if (!isPaused) witness.releases(id);
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
    const asked = ledger.state.required_action!.submit_tool_outputs.tool_calls;
    const calls = asked.filter(({ needs }) => needs !== "authorization");
    const unconnected = asked.filter(({ needs }) => needs === "authorization");
    if (unconnected.length > 0 && (calls.length === 0 || world.chance(0.5))) {
      connect(ledger, world.pick(unconnected), well);
      return;
    }
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

  /** Sends a run's user to connect their account, refuses in their place, or tries to go on without. */
  function connect(ledger: Ledger, { id, run_id }: RequiredCall, well: boolean): void {
    const fate = well ? 1 : world.random();
    if (fate < 0.1) submit(ledger, [{ tool_call_id: id, decision: "reject", reason: mark() }]);
    else if (fate < 0.15) submit(ledger, [{ tool_call_id: id, decision: "approve", reason: mark() }], "any");
    else if (fate < 0.2) submit(ledger, [{ tool_call_id: id, output: mark() }], "any");
    else accounts.open(run_id ?? ledger.id, well);
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
        if (refusal && !isReconciled(submission))
          throw found(`${short(run)}: took what must be refused: ${refusal} (P8)`);
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

  /** True if the outcome of the call became unknown: what was wrong before may be an answer by now. */
  const isReconciled = ({ run, answers }: Submission): boolean =>
    answers.some(({ tool_call_id }) => {
      const requests = entriesWithin(run).flatMap(({ event }) => (event.type === "tool.requested" ? [event.call] : []));
      return requests.findLast(({ id }) => id === tool_call_id)?.needs === "reconcile";
    });

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
        if (taken > 0 && refusal && !isReconciled(submission)) throw wrong("refused and took");
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

/** Number of times that the journal of a run has a client's message, also as its input. */
const timesTaken = ({ entries }: Ledger, content: string): number =>
  entries.filter(
    ({ event }) =>
      (event.type === "run.steered" && event.content === content) ||
      (event.type === "run.created" && event.input === content),
  ).length;

function mayRefuse({ if_thread_busy, on_concurrency_limit }: Partial<CreateRun>, { code, param }: AppError): boolean {
  if (code === "concurrency_limit_exceeded") return on_concurrency_limit === "reject";
  if (code === "thread_busy") return if_thread_busy === "reject" || if_thread_busy === "steer";
  return if_thread_busy === "steer" && (code === "run_already_terminal" || param === "file_ids");
}

function takesNoMessage(state: RunState): boolean {
  const mayHandOver = state.handoffs.length < limits.handoffs_per_run;
  const handsOver = mayHandOver && pendingCalls(state).some(({ type }) => type === "handoff");
  return (state.turns >= state.run.max_turns && !handsOver) || unansweredMessages(state) >= steeredMost;
}

// Errors that clients may get when two of them answer the same run at once.
const raced = new Set<string>(["run_not_awaiting_action", "tool_call_already_resolved", "validation_failed"]);

/** Returns the part of an event that holds a client's text. */
function wordsOf(event: RunEvent): unknown {
  if (event.type === "tool.completed") return [event.output, event.error?.message];
  return event.type === "tool.decided" ? event.reason : null;
}
