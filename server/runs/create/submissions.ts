import { decidedEvents } from "../../domain/guardrail-event.ts";
import { activeAgent, everyAgent } from "../../domain/handoff.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import {
  contentText,
  messageFault,
  type PlacedPart,
  partsOfMessage,
  recordedMedia,
  type ShownMedia,
} from "../../domain/run-input.ts";
import { fold, isOver, type RunState } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";
import { type CheckArguments, notAwaiting, refuseTwice, submitEvents, type ToolAnswer } from "../../domain/submit.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { plainPart } from "../../http/plain-input.ts";
import { inputMost } from "../../http/schemas.ts";
import { lastItem } from "../../lib/collections.ts";
import { validateAgainst } from "../../lib/json-schema.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { Audit, Author } from "../../storage/db/audit.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import { type DecisionAuthor, noteDecisions } from "../decision-notes.ts";
import type { Pool } from "../dispatch/pool.ts";
import { routeToolOutputs } from "../dispatch/route-tool-outputs.ts";
import type { RunTerminator } from "../end/terminate-run.ts";
import type { SubmitToolOutputs } from "../schema.ts";
import type { Note, RunStore } from "../store.ts";
import { guardsAnswers, type ScreenedAnswer, screenAnswer } from "./screening.ts";

/** Answers after guardrails, by tool call id. */
type AnswerScreens = Map<string, ScreenedAnswer>;
const noScreens: AnswerScreens = new Map();

/** An answer as a client sends it: its output, or text and pictures. */
type SentAnswer = ToolAnswer & Pick<SubmitToolOutputs["tool_outputs"][number], "content">;

interface SubmissionOptions {
  journal: Journal;
  runs: RunStore;
  pool: Pool;
  ends: RunTerminator;
  /** Call inside a write. Records in a run's ancestors that its status has changed. */
  insertAbove(runId: string): Inserted[];
  /** Resolves pictures that clients submit. */
  mediaOf(scope: Viewer, param: string, agentId: string): ShownMedia;
  /** Records decisions, from every route. */
  audit: Audit;
  now: () => number;
}

/** Handles tool outputs and approvals. */
export function createSubmissions({ journal, runs, pool, ends, insertAbove, mediaOf, audit, now }: SubmissionOptions) {
  /** Submits answers to a run. Returns the `seq` before them, from which a stream resumes. */
  async function submit(scope: Viewer, runId: string, given: readonly SentAnswer[], note?: Note): Promise<number> {
    let before = 0;
    const reading = given.some(({ content }) => content !== undefined) ? readAnswers(scope, runId, given) : null;
    const { answers, media } = reading ? await reading : { answers: given, media: null };
    // Only if guardrails may apply, because otherwise the submissions of a tick share a snapshot of the database.
    const screens = mayBeScreened(scope, runId) ? await screenAnswers(scope, runId, answers) : noScreens;
    const write = () => {
      const { status, summary, seq } = runs.standing(scope, runId);
      if (summary !== null) throw notAwaiting(status);
      before = seq;
      const inserted = insertAnswers(scope, runId, answers, screens);
      if (inserted.length > 0) media?.keep({ run_id: runId });
      note?.(runs.standing(scope, runId), before);
      return inserted;
    };
    const updates = await journal.prepared(selfAndDescendants(runId), () => journal.commitAll(write, scope));
    for (const [id] of updates) {
      if (isOver(requireValue(journal.head(id), `The run ${id}`).status)) pool.abort(id);
      else pool.start(id);
    }
    return before;
  }

  /** Reads the pictures in answers. */
  async function readAnswers(scope: Viewer, runId: string, given: readonly SentAnswer[]) {
    const media = mediaOf(scope, "tool_outputs", runs.standing(scope, runId).agent_id);
    const sent = given.map(plainAnswer);
    await media.fetch(sent.flatMap(({ parts }) => parts));
    const answers = sent.map(({ answer, parts }): ToolAnswer => {
      const { images } = recordedMedia(parts, media.of);
      return images ? { ...answer, images } : answer;
    });
    return { answers, media };
  }

  /** Screens answers before the write, because that may take long; the pinned guardrails cannot change in between. */
  async function screenAnswers(scope: Viewer, runId: string, answers: readonly ToolAnswer[]): Promise<AnswerScreens> {
    const screened: AnswerScreens = new Map();
    refuseTwice(answers);
    await journal.prepared(selfAndDescendants(runId), () => screenAll(scope, runId, answers, screened));
    return screened;
  }

  async function screenAll(
    scope: Viewer,
    runId: string,
    answers: readonly ToolAnswer[],
    screened: AnswerScreens,
  ): Promise<void> {
    for (const { state, own } of routeToolOutputs(journal.state(runId), answers, () => statesBelow(runId))) {
      const agent = activeAgent(state, journal.snapshot(scope, state.run.agent_hash));
      for (const answer of own) {
        const call = state.calls.find(({ id }) => id === answer.tool_call_id);
        if (call) screened.set(call.id, await screenAnswer(agent, call.tool, answer));
      }
    }
  }

  function mayBeScreened(scope: Viewer, runId: string): boolean {
    if (runs.standing(scope, runId).summary !== null) return false; // A run that is over takes no answers.
    const [first] = journal.read(runId, 0, 1);
    const hash = first?.event.type === "run.created" ? first.event.agent_hash : null;
    return (
      (hash !== null && everyAgent(journal.snapshot(scope, hash)).some(guardsAnswers)) || runs.below(runId).length > 0
    );
  }

  /**
   * Call inside a write. Records the answers in the run and its descendants that made the calls, and in all ancestors.
   */
  function insertAnswers(
    scope: DecisionAuthor,
    runId: string,
    answers: readonly ToolAnswer[],
    screened: AnswerScreens,
  ): Inserted[] {
    refuseTwice(answers);
    const owners = routeToolOutputs(journal.state(runId), answers, () => statesBelow(runId));
    const answerEvents = owners.flatMap(({ state, own, places }): Inserted[] => {
      const screenedAnswers = own.map((answer) => screened.get(answer.tool_call_id)?.answer ?? answer);
      const events = withAuthor(
        submitEvents(state, screenedAnswers, argumentFaults(scope, state, screened), now(), places),
        scope,
      );
      noteDecisions(audit, scope, state, events);
      return events.length > 0 ? insertAnswered(state, events, screened) : [];
    });
    return [...answerEvents, ...answerEvents.flatMap(([id]) => insertAbove(id))];
  }

  /** Inserts answers with their guardrail findings; a blocked answer ends its run. */
  function insertAnswered(state: RunState, events: RunEvent[], screened: AnswerScreens): Inserted[] {
    const { run_id } = state.run;
    const findings = events.flatMap((event) =>
      event.type === "tool.completed" || event.type === "tool.decided"
        ? (screened.get(event.tool_call_id)?.findings ?? [])
        : [],
    );
    const [answered, next] = [events.slice(0, -1), lastItem(events)];
    const recordedEvents = [...answered, ...decidedEvents(findings, state.steps, Math.max(0, state.turns - 1))];
    if (!findings.some(({ verdict }) => verdict === "blocked"))
      return [[run_id, journal.insert(run_id, [...recordedEvents, next])]];
    const entries = journal.insert(run_id, recordedEvents);
    return ends
      .blocked(fold(entries, state))
      .map(([id, endEntries]) => [id, id === run_id ? [...entries, ...endEntries] : endEntries]);
  }

  /** Returns the run and its descendants: the answers may be for calls of any of them. */
  const selfAndDescendants = (runId: string): string[] => [runId, ...runs.below(runId)];

  /** Yields lazily. Skips damaged records: their calls cannot be answered. */
  function* statesBelow(runId: string): Generator<RunState> {
    for (const id of runs.below(runId)) {
      const state = nullIfUnreadable(() => journal.state(id));
      if (state) yield state;
    }
  }

  const argumentFaults =
    (scope: Scope, state: RunState, screened: AnswerScreens): CheckArguments =>
    (call, args) => {
      const fault = screened.get(call.id)?.fault;
      if (fault) return [fault];
      const agent = activeAgent(state, journal.snapshot(scope, state.run.agent_hash));
      const tool = agent.tools.find(({ name }) => name === call.tool);
      if (!tool) return ["The tool of this call is not known."];
      return validateAgainst(tool.parameters, args).map(({ path, message }) => `${path || "arguments"}: ${message}`);
    };

  return submit;
}

/** Adds the author to decisions. */
function withAuthor(events: RunEvent[], author: Viewer & Partial<Author>): RunEvent[] {
  if (!author.actor) return events;
  const { type, id } = author.actor;
  return events.map((event) =>
    event.type === "tool.decided" || (event.type === "tool.completed" && event.status === "rejected")
      ? { ...event, by: { type, id } }
      : event,
  );
}

/** Returns an answer with the text of its parts as the output, and its pictures. */
function plainAnswer({ content, ...answer }: SentAnswer, index: number): { answer: ToolAnswer; parts: PlacedPart[] } {
  if (content === undefined) return { answer, parts: [] };
  const path = `[${index}]`;
  if (answer.output !== undefined)
    throw invalid(`tool_outputs${path}.content`, "Give an output or a content, not both.");
  const message = { role: "tool" as const, content: content.map(plainPart), tool_call_id: answer.tool_call_id };
  const wrong = messageFault(message, inputMost);
  if (wrong) throw invalid(`tool_outputs${path}${wrong.path}`, wrong.message);
  return { answer: { ...answer, output: contentText(message.content) }, parts: partsOfMessage(message, path) };
}
