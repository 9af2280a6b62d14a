import type { Json } from "../harness.ts";
import type { ModelServer } from "../model-server.ts";
import { isOfEvent } from "./event-sender.ts";
import { type SaidMessage, sayWord } from "./guide.ts";
import { inputOf, inputWord, isStart, isStep, modelSteps, turnName, turnOf } from "./readings.ts";
import type { RecordedRun, Row } from "./record.ts";

// Compares what the models were told with the journals, by rules of its own.

type Fault = (counter: "unsaid" | "echoed" | "forgotten", text: string) => void;

const isMessage = (content: unknown): content is string =>
  typeof content === "string" && (content.startsWith(`${inputWord} `) || content.startsWith(`${sayWord} `));

/** Returns the clients' messages in a prompt. */
const messagesIn = ({ messages }: { messages: Json[] }): string[] =>
  messages.flatMap(({ role, content }) => (role === "user" && isMessage(content) ? [content] : []));

/** Returns the messages that a run took before this entry, its input first. */
const saidIn = (rows: readonly Row[], before = Number.POSITIVE_INFINITY): string[] => [
  inputOf(rows),
  ...rows.flatMap(({ seq, type, event }) => (type === "run.steered" && seq < before ? [event.content] : [])),
];

const threadOf = ({ rows }: RecordedRun): string | null => rows[0]!.event.thread_id;

/** Compares prompts with the conversations that the journals have. */
export function createConversationJudge(fault: Fault) {
  const judged = new Set<string>();

  /** Judges the answered calls, each once: its prompt had every message and turn until then, once and in order. */
  return function judge(runs: ReadonlyMap<string, RecordedRun>, { requests }: Pick<ModelServer, "requests">): void {
    const newest = new Map(requests.map((request) => [turnOf(request), request]));
    for (const run of runs.values()) {
      const ended = new Set(run.rows.filter(isStep).map(({ event }) => event.step_index));
      for (const [turn, step] of modelSteps(run.rows).entries()) {
        const name = turnName(inputOf(run.rows), turn);
        const request = newest.get(name);
        if (judged.has(name) || !ended.has(step) || !request) continue;
        judged.add(name);
        const start = run.rows.find((row) => isStart(row) && row.event.step_index === step)!;
        compare(name, messagesIn(request), [...saidBefore(run, runs), ...saidIn(run.rows, start.seq)]);
      }
    }
  };

  function compare(turn: string, told: readonly string[], due: readonly string[]): void {
    const isSaid = (text: string) => text.startsWith(sayWord);
    if (told.join("\n") === due.join("\n")) return;
    const missing = due.filter((text) => !told.includes(text));
    if (told.length > new Set(told).size) fault("echoed", `${turn} had ${told.join(" | ")}`);
    else if (missing.some(isSaid)) fault("unsaid", `${turn} missed ${missing.join(" | ")}`);
    else fault("forgotten", `${turn} had ${told.join(" | ")}, not ${due.join(" | ")}`);
  }
}

/** Returns the messages of the thread's runs before this one. */
function saidBefore(run: RecordedRun, runs: ReadonlyMap<string, RecordedRun>): string[] {
  const thread = threadOf(run);
  if (thread === null) return [];
  const earlier = [...runs.values()].filter((other) => threadOf(other) === thread && other.id < run.id);
  return earlier.toSorted((a, b) => (a.id < b.id ? -1 : 1)).flatMap(({ rows }) => saidIn(rows));
}

/** Finds messages that a journal has twice, or has although their sender was refused, or lacks. */
export function misplaced({ run_id, content, taken }: SaidMessage, run: RecordedRun | undefined): string | null {
  const times = run?.rows.filter(({ type, event }) => type === "run.steered" && event.content === content).length ?? 0;
  if (times > 1) return `${content} stands in ${run_id} ${times} times`;
  return times === 1 && taken === false ? `${content} was refused and stands in ${run_id}` : null;
}

/** Returns inputs of events that several runs have. */
export function eventsWithTwoRuns(runs: ReadonlyMap<string, RecordedRun>): string[] {
  const byInput = Map.groupBy(runs.values(), ({ rows }) => inputOf(rows));
  return [...byInput].flatMap(([input, all]) =>
    isOfEvent(input) && all.length > 1 ? [`${input}: ${all.map(({ id }) => id).join(", ")}`] : [],
  );
}

/**
 * Finds steps that began although their run was to pause, or was paused, and pauses that ended although no client had
 * asked for it.
 */
export function brokenPauses({ id, rows }: RecordedRun, mayGoOn: boolean): string[] {
  const faults: string[] = [];
  let pause: "none" | "requested" | "begun" = "none";
  for (const row of rows) {
    if (row.type === "run.pause_requested" && pause === "none") pause = "requested";
    if (row.type === "run.paused") pause = "begun";
    if (row.type === "run.resumed" || row.type === "run.pause_cancelled") {
      if (pause !== "none" && !mayGoOn) faults.push(`${id} ${row.seq}: ${row.type}, and no client asked for it`);
      pause = "none";
    }
    const isModelCall = row.type === "step.started" && row.event.step_type === "model_call";
    if (isStart(row) && (pause === "begun" || (pause === "requested" && isModelCall)))
      faults.push(`${id} ${row.seq}: ${row.type} while a pause is ${pause}`);
  }
  return faults;
}
