import { decidedEvents } from "../core/guardrail-event.ts";
import type { RunEvent } from "../core/run-event.ts";
import { fold, isOver, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { type CheckArguments, notAwaiting, refuseTwice, submitEvents, type ToolAnswer } from "../core/submit.ts";
import type { Audit, Author } from "../db/audit.ts";
import { unlessDamaged } from "../db/unless-damaged.ts";
import type { Viewer } from "../http/auth.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { type DecisionAuthor, noteDecisions } from "./decision-notes.ts";
import type { Ends } from "./ends.ts";
import { ownersOf } from "./owners.ts";
import type { Pool } from "./pool.ts";
import { guardsAnswers, type ScreenedAnswer, screenAnswer } from "./screening.ts";
import type { Note, RunStore } from "./store.ts";

/** What guardrails leave of answers, by the id of their call. */
type AnswerScreens = Map<string, ScreenedAnswer>;
const noScreens: AnswerScreens = new Map();

interface SubmissionOptions {
  journal: Journal;
  runs: RunStore;
  pool: Pick<Pool, "start" | "abort">;
  ends: Pick<Ends, "blocked">;
  /** Within a write: what those above a run note of where it now stands. */
  insertAbove(runId: string): Inserted[];
  /** Notes decisions, whichever way they come in by. */
  audit: Audit;
  now: () => number;
}

/** Takes what runs have asked for. */
export function createSubmissions({ journal, runs, pool, ends, insertAbove, audit, now }: SubmissionOptions) {
  /** Takes answers to what a run asked for. Returns the `seq` before them, from where a stream may go on. */
  async function submit(scope: Viewer, runId: string, answers: readonly ToolAnswer[], note?: Note): Promise<number> {
    let before = 0;
    // Only where somebody looks: else the answers of a tick would not share it.
    const screened = areScreened(scope, runId) ? await screenAnswers(scope, runId, answers) : noScreens;
    const write = () => {
      const { status, summary, seq } = runs.standing(scope, runId);
      if (summary !== null) throw notAwaiting(status);
      before = seq;
      const inserted = insertAnswers(scope, runId, answers, screened);
      note?.(runs.standing(scope, runId), before);
      return inserted;
    };
    const changed = await journal.prepared(askedOf(runId), () => journal.commitAll(write, scope));
    for (const [id] of changed) {
      if (isOver(journal.head(id)!.status)) pool.abort(id);
      else pool.start(id);
    }
    return before;
  }

  /** Before the write, since it may take long: what guardrails leave of the answers, by call. What is pinned stays so. */
  async function screenAnswers(scope: Viewer, runId: string, answers: readonly ToolAnswer[]): Promise<AnswerScreens> {
    const screened: AnswerScreens = new Map();
    refuseTwice(answers);
    await journal.prepared(askedOf(runId), () => screenAll(scope, runId, answers, screened));
    return screened;
  }

  async function screenAll(
    scope: Viewer,
    runId: string,
    answers: readonly ToolAnswer[],
    screened: AnswerScreens,
  ): Promise<void> {
    for (const { state, own } of ownersOf(journal.state(runId), answers, () => statesBelow(runId))) {
      const agent = journal.snapshot(scope, state.run!.agent_hash);
      for (const answer of own) {
        const call = state.calls.find(({ id }) => id === answer.tool_call_id);
        if (call) screened.set(call.id, await screenAnswer(agent, call.tool, answer));
      }
    }
  }

  function areScreened(scope: Viewer, runId: string): boolean {
    if (runs.standing(scope, runId).summary !== null) return false; // It takes no answers any more.
    const [first] = journal.read(runId, 0, 1);
    const hash = first?.event.type === "run.created" ? first.event.agent_hash : null;
    return (hash !== null && guardsAnswers(journal.snapshot(scope, hash))) || runs.below(runId).length > 0;
  }

  /** Within a write: what the answers make of the run, of those below it whose calls they are about, and of all above. */
  function insertAnswers(
    scope: DecisionAuthor,
    runId: string,
    answers: readonly ToolAnswer[],
    screened: AnswerScreens,
  ): Inserted[] {
    refuseTwice(answers);
    const owners = ownersOf(journal.state(runId), answers, () => statesBelow(runId));
    const answered = owners.flatMap(({ state, own, places }): Inserted[] => {
      const left = own.map((answer) => screened.get(answer.tool_call_id)?.answer ?? answer);
      const events = signed(submitEvents(state, left, argumentFaults(scope, state, screened), now(), places), scope);
      noteDecisions(audit, scope, state, events);
      return events.length > 0 ? insertAnswered(state, events, screened) : [];
    });
    return [...answered, ...answered.flatMap(([id]) => insertAbove(id))];
  }

  /** Inserts answers with what guardrails say of them; one that is blocked is the end of its run. */
  function insertAnswered(state: RunState, events: RunEvent[], screened: AnswerScreens): Inserted[] {
    const { run_id } = state.run!;
    const findings = events.flatMap((event) =>
      event.type === "tool.completed" || event.type === "tool.decided"
        ? (screened.get(event.tool_call_id)?.findings ?? [])
        : [],
    );
    const [answered, next] = [events.slice(0, -1), events.at(-1)!];
    const noted = [...answered, ...decidedEvents(findings, state.steps, Math.max(0, state.turns - 1))];
    if (!findings.some(({ verdict }) => verdict === "blocked"))
      return [[run_id, journal.insert(run_id, [...noted, next])]];
    const entries = journal.insert(run_id, noted);
    return ends.blocked(fold(entries, state)).map(([id, its]) => [id, id === run_id ? [...entries, ...its] : its]);
  }

  /** All whose calls the answers may be about. */
  const askedOf = (runId: string): string[] => [runId, ...runs.below(runId)];

  /** One after the other, and only as many as are looked at. One that cannot be read has no calls that anybody could answer. */
  function* statesBelow(runId: string): Generator<RunState> {
    for (const id of runs.below(runId)) {
      const state = unlessDamaged(() => journal.state(id));
      if (state) yield state;
    }
  }

  const argumentFaults =
    (scope: Scope, state: RunState, screened: AnswerScreens): CheckArguments =>
    (call, args) => {
      const fault = screened.get(call.id)?.fault;
      if (fault) return [fault];
      const tool = journal.snapshot(scope, state.run!.agent_hash).tools.find(({ name }) => name === call.tool);
      if (!tool) return ["The tool of this call is not known."];
      return validateAgainst(tool.parameters, args).map(({ path, message }) => `${path || "arguments"}: ${message}`);
    };

  return submit;
}

/** Says in decisions who made them. */
function signed(events: RunEvent[], who: Viewer & Partial<Author>): RunEvent[] {
  if (!who.actor) return events;
  const { type, id } = who.actor;
  return events.map((event) =>
    event.type === "tool.decided" || (event.type === "tool.completed" && event.status === "rejected")
      ? { ...event, by: { type, id } }
      : event,
  );
}
