import {
  type AgentSnapshot,
  type ContextPolicy,
  contextStrategies,
  type MemoryPolicy,
  type PinnedStore,
  type ToolSnapshot,
} from "../../core/agent-snapshot.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Needs, RunEvent } from "../../core/run-event.ts";
import { isOver } from "../../core/run-state.ts";
import type { ToolAnswer } from "../../core/submit.ts";
import { agentTool, httpTool, tool } from "../run-fixture.ts";
import { type Fixture, type Ledger, short, type Witness } from "./witness.ts";
import { Found, type World } from "./world.ts";

/** One body of `submit_tool_outputs`, perhaps sent several times. */
interface Submission {
  run: string;
  answers: ToolAnswer[];
  /** The refusal that must come, null for none, `any` for some. */
  refusal: string | null;
  /** Sent and never answered: the process died. */
  unanswered: number;
  accepted: boolean;
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

/** What an agent remembers, and what it does when that gets too much. */
const memory = (strategy: ContextPolicy["strategy"], stores = [notes]): MemoryPolicy<PinnedStore> => ({
  stores,
  history: { mode: "thread", max_messages: 50 },
  context: { strategy, reserve_output_tokens: 50, tool_output_max_bytes: 1000 },
});

/** The agents that runs call, by id: one that asks for much, and one that calls others of its kind. */
export const helpers: Record<string, Partial<AgentSnapshot>> = {
  agt_helper: { tools: [safe, once, look, sign], max_turns: 3, memory: memory("compact") },
  agt_deputy: { tools: [look, delegate, agentTool("pass_on", "agt_deputy")], max_turns: 2 },
};

/** Those who start runs, answer them well or badly, and cancel them; each says what must have come of it. */
export function createClients(world: World, witness: Witness, fixture: () => Fixture) {
  const { ledgers, found } = witness;
  const submissions: Submission[] = [];
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
        tools: world.some(world.chance(0.4) ? [...tools, ...agentTools] : tools),
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

  /** Answers a run in one of the ways that clients have, good and bad. */
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

  /** A decision where an output is needed. */
  const wrong = (tool_call_id: string): ToolAnswer => ({ tool_call_id, decision: "reject", reason: mark() });

  /** Whether a run is another one, or works for it. */
  const isWithin = (id: string | null, root: string): boolean =>
    id !== null && (id === root || isWithin(ledgers.get(id)?.state.run?.parent_run_id ?? null, root));

  /** The answer to a call of a run that has nothing to do with this one, or to none that ever was. */
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

  /** What happened to a run and to all that work for it. */
  const entriesWithin = (run: string) =>
    [...ledgers.values()].filter(({ id }) => isWithin(id, run)).flatMap(({ entries }) => entries);

  /** How many of these answers stand in the journal, by the mark that each of them has. */
  function recorded({ run }: Submission, answers: readonly ToolAnswer[]): number {
    const text = JSON.stringify(entriesWithin(run).map(({ event }) => wordsOf(event)));
    return answers.filter(({ reason, output }) => text.includes(reason ?? (output as string))).length;
  }

  /** Sends a body, for the first time or once more: who was told yes is told yes again (P8). */
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
    told().catch(() => {}); // The witness keeps what was found.
  }

  function refused(submission: Submission, code: string, before: boolean): void {
    const { run, refusal } = submission;
    world.note(`client: refused ${code}`);
    const expected = refusal === "any" || refusal === code || (!refusal && raced.has(code));
    if (!expected) throw found(`${short(run)}: ${code} where ${refusal ?? "yes"} was due (P8)`);
    if (before && !askedAgain(submission)) throw found(`${short(run)}: yes at first, then ${code} (P8)`);
  }

  /** A call whose outcome became unknown after the answer was asked for once more: an old yes may not fit any more. */
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
    create: () => void create().catch(() => {}), // The witness keeps what was found.
    cancel: (ledger: Ledger) => void cancel(ledger).catch(() => {}),
    answer,
    /** Sends an old body once more. */
    repeat(): void {
      if (submissions.length > 0) resend(world.pick(submissions));
    },
    /** All or nothing: a body stands in the journal whole, or not at all (P8). */
    rested(): void {
      for (const id of acknowledged) if (!ledgers.has(id)) throw found(`${short(id)} was lost (P1)`);
      for (const submission of submissions) {
        const { run, answers, refusal, accepted, unanswered } = submission;
        const wrong = (what: string) => found(`${short(run)}: ${what} ${JSON.stringify(answers)} (P8)`);
        // A decision may have been taken before, in the words of another body.
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

// What two clients who answer the same run at once may be told.
const raced = new Set<string>(["run_not_awaiting_action", "tool_call_already_resolved", "validation_failed"]);

/** Where the words of clients stand in the journal. */
function wordsOf(event: RunEvent): unknown {
  if (event.type === "tool.completed") return [event.output, event.error?.message];
  return event.type === "tool.decided" ? event.reason : null;
}
