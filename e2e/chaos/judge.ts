import { isDeepStrictEqual } from "node:util";
import type { Runnel } from "../harness.ts";
import type { ModelServer } from "../model-server.ts";
import type { ToolServer } from "../tool-server.ts";
import type { Claim, RunClient, StormState } from "./client.ts";
import { foreignSubjects } from "./consents.ts";
import { brokenPauses, createConversationJudge, eventsWithTwoRuns, misplaced } from "./conversations.ts";
import {
  countBy,
  inputOf,
  isEnd,
  isStart,
  isStep,
  listEvents,
  modelSteps,
  resultsOf,
  textsOf,
  tornOf,
  turnName,
  turnOf,
} from "./readings.ts";
import type { StormReceiver } from "./receiver.ts";
import { type Journal, placeOf, type RecordedRun, type Row } from "./record.ts";

/** Violations that must be zero after a storm, each with the broken promise. */
export const counters = {
  lost: "P1: an acknowledged run that did not complete",
  damaged: "P1: a fault that SQLite finds in the file",
  unfinished: "P2: a row that is still in progress",
  repeated: "P3: a request for a step whose result was in the database before the kill",
  twice: "P3: a step with two ends, or a call with two results",
  torn: "P3: a result without its event, or a row that says something else than the journal",
  unsafe: "P4: a call that may not be repeated, made again though nobody approved it",
  unintended: "P4: a request without a start of its step in the database",
  gaps: "P6: a run whose entries are not numbered 1 to n",
  misread: "P6: a stream that, all its pieces together, is not the record",
  unrecorded: "P6: something that a client was told and that the database does not know",
  rewritten: "P6: an entry that changed or vanished",
  endings: "P7: a run without exactly one end, or with entries after it",
  refused: "P8: an answer that no client should get",
  unheard: "an end that stands in the database without its event, or that its webhook was never told of",
  forged: "an event that does not verify, came under two ids, or tells of what is not in the database",
  uncounted: "usage that says something else than the journal",
  stale: "a run that began with an older version of its agent than one that was acknowledged before",
  unsaid: "P1: an acknowledged message that is not in its run, or that a later model call missed",
  echoed: "P3: a message that stands in a journal or in a prompt twice, or that its run had refused",
  forgotten: "a model call that missed a turn of its thread, or of the agent before a handoff",
  restless: "a run that went on during a pause, or before a client let it",
  doubled: "P8: an event that made two runs",
  foreign: "a call that was made with the token of another user than its run's, or without one",
  crash_loops: "P9: a run that was given up although it went on",
} as const;

export type CounterName = keyof typeof counters;
export type Counters = { [name in CounterName]: number };

const names = Object.keys(counters) as CounterName[];

/** Paths of the tool that is idempotent and of the one that is not. */
export const paths = { safe: "/slow/20", once: "/slow/25" };

interface Seen {
  record: Journal;
  model: ModelServer;
  tools: ToolServer;
  shared: StormState;
  receiver: StormReceiver;
}

/** Compares the database, the stubs and the clients. */
export function createJudge({ record, model, tools, shared, receiver }: Seen) {
  const found = new Map(names.map((name) => [name, new Set<string>()]));
  const fault = (counter: CounterName, text: string): void => void found.get(counter)!.add(text);
  const judgeConversations = createConversationJudge(fault);
  // Requests that the stubs had received, and results that were stored, at the last kill.
  let marks = { calls: 0, requests: 0 };
  let recorded = resultsOf([]);
  // Number of times that the process died between a model request and the commit of its start.
  const ahead = new Map<string, number>();

  /** Call between two lives, once the record is up to date and all sent bytes are read. */
  function afterKill(): void {
    for (const { key } of tools.calls.slice(marks.calls)) if (recorded.calls.has(key)) fault("repeated", key);
    for (const turn of model.requests.slice(marks.requests).map(turnOf))
      if (recorded.turns.has(turn)) fault("repeated", turn);
    for (const claim of shared.claims.splice(0))
      if (!holds(claim, record)) fault("said" in claim ? "unsaid" : "unrecorded", JSON.stringify(claim));
    for (const run of record.runs.values()) for (const text of tornOf(run)) fault("torn", text);
    judgeGuidance();
    for (const text of record.uncounted()) fault("uncounted", text);
    for (const text of shared.stale) fault("stale", text);
    for (const { id, rows } of record.runs.values())
      for (const { seq, type } of rows.filter(isEnd))
        if (!record.outbox.has(placeOf(id, seq))) fault("unheard", `${id} ${type}`);
    for (const { faults } of shared.clients.values()) for (const text of faults) fault("misread", text);
    judgeEffects();
    marks = { calls: tools.calls.length, requests: model.requests.length };
    recorded = resultsOf(record.runs.values());
  }

  /** Judges messages, pauses, threads, handoffs and events. */
  function judgeGuidance(): void {
    judgeConversations(record.runs, model);
    for (const run of record.runs.values())
      for (const text of brokenPauses(run, shared.resumed.has(run.id))) fault("restless", text);
    for (const message of shared.said) {
      const text = misplaced(message, record.runs.get(message.run_id));
      if (text) fault("echoed", text);
    }
    for (const text of [...shared.doubled, ...eventsWithTwoRuns(record.runs)]) fault("doubled", text);
    for (const run of record.runs.values()) for (const text of foreignSubjects(run)) fault("foreign", text);
  }

  /** Call once every run is over or should be, while the server is up. */
  async function atEnd(server: Runnel): Promise<void> {
    afterKill();
    for (const run of record.runs.values()) judgeRun(run);
    for (const client of shared.clients.values()) await judgeClient(client, server);
    for (const text of record.rewritten()) fault("rewritten", text);
    for (const text of record.damage()) fault("damaged", text);
    for (const text of shared.refusals) fault("refused", text);
    for (const text of receiver.unheard(record.runs.values())) fault("unheard", text);
    for (const text of receiver.forged(record.runs)) fault("forged", text);
  }

  const counted = () => Object.fromEntries([...found].map(([name, texts]) => [name, texts.size])) as Counters;
  const worded = () => [...found].flatMap(([name, texts]) => [...texts].map((text) => `${name}: ${text}`));

  function judgeRun({ id, status, rows }: RecordedRun): void {
    if (rows.some(({ seq }, index) => seq !== index + 1)) fault("gaps", id);
    const ends = rows.filter(isEnd);
    if (ends.length !== 1 || ends[0] !== rows.at(-1)) fault("endings", `${id} has ${ends.length} ends`);
    if (status === "in_progress") fault("unfinished", id);
    if (ends.some(({ event }) => event.error?.code === "crash_loop")) fault("crash_loops", id);
    const steps = countBy(rows.filter(isStep), ({ event }) => `step ${event.step_index}`);
    const results = countBy(rows.filter(isResult), ({ event }) => event.tool_call_id);
    for (const [what, times] of [...steps, ...results]) if (times > 1) fault("twice", `${what} of ${id}`);
  }

  /**
   * Checks that every request belongs to a stored start, except the last model request of a life. A repeated
   * non-idempotent call also needs a person's decision.
   */
  function judgeEffects(): void {
    const may = allowed(record.runs.values());
    const onceOnly = new Set(tools.callsOf(paths.once).map(({ key }) => key));
    const newest = new Set(model.requests.slice(marks.requests).map(turnOf));
    for (const [turn, times] of countBy(model.requests, turnOf)) {
      const known = (may.starts.get(turn) ?? 0) + (ahead.get(turn) ?? 0);
      if (times === known + 1 && newest.has(turn)) ahead.set(turn, (ahead.get(turn) ?? 0) + 1);
      else if (times > known) fault("unintended", `${turn}: ${times} requests`);
    }
    for (const [key, times] of countBy(tools.calls, ({ key }) => key)) {
      if (times > (may.starts.get(key) ?? 0)) fault("unintended", `${key}: ${times} requests`);
      if (onceOnly.has(key) && times > 1 + (may.approvals.get(key) ?? 0)) fault("unsafe", `${key}: ${times} requests`);
    }
  }

  async function judgeClient(client: RunClient, server: Runnel): Promise<void> {
    const id = client.id()!;
    const run = record.runs.get(id);
    if (run?.status !== "completed") return fault("lost", `${id} is ${run?.status}: ${run?.rows.at(-1)?.text}`);
    if (!client.isOver()) fault("misread", `${id}: its stream came to no end`);
    const { body } = await server.get(`/v1/runs/${id}`);
    const events = client.events.map(({ event, data }) => ({ event, data }));
    const texts = textsOf(run.rows);
    const listed = await listEvents(server, id);
    if (!isDeepStrictEqual(withoutOrigins(events), withoutOrigins(listed)))
      fault("misread", `${id}: other events than the list`);
    if (!isDeepStrictEqual(client.texts, texts)) fault("misread", `${id}: other words than the record`);
    if ([...texts.values()].at(-1) !== body.output) fault("misread", `${id}: another output than the last words`);
  }

  return { afterKill, atEnd, counters: counted, faults: worded };
}

/** Each start of the server has another port, and the address of a consent is made for the request that reads it. */
const withoutOrigins = (events: unknown): unknown =>
  JSON.parse(JSON.stringify(events).replace(/http:\/\/127\.0\.0\.1:\d+(?=\/oauth\/consent\/)/g, ""));

const isResult = ({ type }: Row): boolean => type === "tool.completed";

function holds(claim: Claim, { runs, agents }: Journal): boolean {
  if ("agent_id" in claim) return agents.has(claim.agent_id);
  const rows = runs.get(claim.run_id)?.rows;
  if (!rows) return false;
  if ("event" in claim) return rows[claim.event.seq - 1]?.type === claim.event.name;
  if ("said" in claim) return rows.some(({ type, event }) => type === "run.steered" && event.content === claim.said);
  if ("type" in claim) return rows.some(({ type }) => type === claim.type);
  const answers = (row: Row) => isResult(row) || row.type === "tool.decided";
  return !("call_id" in claim) || rows.some((row) => answers(row) && row.event.tool_call_id === claim.call_id);
}

/** Counts the recorded starts of each turn and call, and the decisions to repeat a call. */
function allowed(runs: Iterable<RecordedRun>): { starts: Map<string, number>; approvals: Map<string, number> } {
  const starts = new Map<string, number>();
  const approvals = new Map<string, number>();
  for (const { rows } of runs) {
    const begun = countBy(rows.filter(isStart), ({ event }) => String(event.step_index));
    for (const [turn, step] of modelSteps(rows).entries())
      starts.set(turnName(inputOf(rows), turn), begun.get(String(step))!);
    for (const { event } of rows.filter(({ type }) => type === "step.started"))
      if (event.tool_call_id) starts.set(event.tool_call_id, begun.get(String(event.step_index))!);
    for (const { event } of rows.filter(({ type }) => type === "tool.decided"))
      approvals.set(event.tool_call_id, (approvals.get(event.tool_call_id) ?? 0) + 1);
  }
  return { starts, approvals };
}
