import type { AppError, CodedError } from "../../../core/errors.ts";
import type { ModelAnswer, RequiredCall } from "../../../core/run-event.ts";
import type { Dialect } from "../../../runs/stream.ts";
import type { Frame } from "../../../wire/frames.ts";
import { openAiError, stopping } from "../errors.ts";
import { callItemId, type Stretch, saidId } from "../item-ids.ts";
import { outputText } from "../items.ts";

interface ResponseOf {
  stretch: Stretch;
  /** Its fields but for what becomes of it. */
  about: object;
  /** Whether somebody reads its events. */
  stream: boolean;
  /** The last event that the reader has had, by its number; -1: none. Null: the response is new. */
  after: number | null;
  /** Whether it goes on where the client is asked for something, to the end of the run. */
  whole?: boolean;
}

/** An item of a response, as clients read it. */
type Item = { id: string; type: string } & Record<string, unknown>;

/** What has become of a response so far. */
export interface ResponseSoFar {
  object: object;
  status: Status;
  output: Item[];
  /** The newest entry of it. */
  seq: number;
  /** Of a run that failed. */
  failed: CodedError | null;
}

type Status = "queued" | "in_progress" | "completed" | "failed" | "cancelled" | "incomplete";
type Kind = "output" | "reasoning";

/** What is being said. */
interface OpenItem {
  id: string;
  kind: Kind;
  index: number;
  step: number;
  text: string;
  /** Whether what was streamed of it so far is void: the model was asked anew. */
  isVoid: boolean;
}

// An event's number is a place in the journal, so that a reader comes back exactly: the number of its entry, how much of
// the step's text was streamed by then, and which of the events it is that stand between two characters.
const perEntry = 2 ** 24;
const perCharacter = 8;

/** The number of an event behind which nothing of a run with so many entries can stand. */
export const lastNumber = (seq: number): number => (seq + 1) * perEntry;

/** Says a stretch of a run as a response: its items, and the events by which they come into being. */
export function responseDialect(of: ResponseOf): Dialect & { soFar(): ResponseSoFar } {
  const { run_id } = of.stretch;
  const after = of.after ?? -1;
  const output: Item[] = [];
  const counts = { input: 0, cached: 0, output: 0, reasoning: 0 };
  let open: OpenItem | null = null;
  let [items, saidIn, saidItems] = [0, -1, 0];
  /** The step that the model has answered last, and those in which messages were said, by their ids. */
  let answered = -1;
  const stepOf = new Map<string, number>();
  let [status, seq, isBegun, isOver] = ["in_progress" as Status, of.stretch.seq, false, false];
  /** Of the last event; the next one's is above the place at which it is told. */
  let [number, floor] = [-1, -1];
  let limit: string | null = null;
  let failed: CodedError | null = null;
  let endedAt: number | null = null;
  /** Of deltas of the open item: all before the delta itself. */
  let head = "";

  const sent = (type: string, fields: object): string => {
    number = Math.max(number, floor) + 1;
    if (!of.stream || number <= after) return "";
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: number })}\n\n`;
  };
  const placeOf = (entry: number, characters: number): number => entry * perEntry + characters * perCharacter;

  const object = (): object => ({
    ...of.about,
    status,
    completed_at: endedAt,
    error: failed,
    incomplete_details: limit === null ? null : { reason: limit },
    output: open && !isOver ? [...output, itemOf(open, "in_progress")] : output,
    usage: isOver ? usageOf(counts) : null,
  });

  function begin(queued: boolean): string {
    isBegun = true;
    status = queued ? "queued" : "in_progress";
    return sent("response.created", { response: object() }) + sent(`response.${status}`, { response: object() });
  }

  function start(kind: Kind, step: number): string {
    if (saidIn !== step) [saidIn, saidItems] = [step, 0];
    const id = saidId(kind === "output" ? "msg" : "rs", run_id, step, saidItems++);
    open = { id, kind, index: items++, step, text: "", isVoid: false };
    const index = { output_index: open.index };
    const place = partPlace(open);
    head = headOf(open);
    return (
      sent("response.output_item.added", { ...index, item: { ...itemOf(open, "in_progress"), ...empty(kind) } }) +
      sent(`response.${partName(kind)}.added`, { ...place, part: partOf(kind, "") })
    );
  }

  /** Ends what is being said; what came to nothing is no part of the whole. */
  function close(isCut = false): string {
    if (!open) return "";
    const done = open;
    const { kind, text, index } = done;
    const item = itemOf(done, isCut || text === "" ? "incomplete" : "completed");
    open = null;
    if (text !== "") output.push(item);
    stepOf.set(done.id, done.step);
    const place = partPlace(done);
    return (
      sent(`response.${textName(kind)}.done`, { ...place, text, ...(kind === "output" && { logprobs: [] }) }) +
      sent(`response.${partName(kind)}.done`, { ...place, part: partOf(kind, text) }) +
      sent("response.output_item.done", { output_index: index, item })
    );
  }

  function ask({ id: call_id, tool: name, arguments: args }: RequiredCall): string {
    const text = JSON.stringify(args);
    const output_index = items++;
    const item = { id: callItemId(run_id, call_id), type: "function_call", call_id, name, arguments: text };
    const place = { item_id: item.id, output_index };
    const done = { ...item, status: "completed" };
    output.push(done);
    return (
      sent("response.output_item.added", { output_index, item: { ...item, arguments: "", status: "in_progress" } }) +
      sent("response.function_call_arguments.delta", { ...place, delta: text }) +
      sent("response.function_call_arguments.done", { ...place, name, arguments: text }) +
      sent("response.output_item.done", { output_index, item: done })
    );
  }

  function end(as: Status, when: string): string {
    const last = close(as !== "completed");
    [isOver, status, endedAt] = [true, as, Math.floor(Date.parse(when) / 1000)];
    // There is no event of its own for what was cancelled.
    return last + sent(`response.${as === "cancelled" ? "failed" : as}`, { response: object() });
  }

  function count({ usage, finish }: ModelAnswer): void {
    counts.input += usage.input_tokens ?? 0;
    counts.output += usage.output_tokens ?? 0;
    counts.cached += usage.cached_input_tokens ?? 0;
    counts.reasoning += usage.reasoning_tokens ?? 0;
    limit = finish === "length" ? "max_output_tokens" : finish === "content_filter" ? "content_filter" : null;
  }

  function event(frame: Frame, answer: ModelAnswer | null): string {
    switch (frame.event) {
      case "run.started":
        if (status !== "queued") return "";
        status = "in_progress";
        return sent("response.in_progress", { response: object() });
      case "step.completed": {
        if (!answer) return "";
        answered = frame.data.step_index;
        count(answer);
        return close();
      }
      case "step.restarted":
        // What was streamed cannot be taken back: the next delta says that it is void.
        if (open?.step === frame.data.step_index) open = { ...open, text: "", isVoid: true };
        return "";
      case "output.rejected": {
        // What was said in earlier steps stays, also where this one said nothing.
        const isRejected = ({ id, type }: Item) => type === "message" && stepOf.get(id) === answered;
        output.splice(0, output.length, ...output.filter((item) => !isRejected(item)));
        return "";
      }
      case "run.requires_action": {
        const { tool_calls } = frame.data.required_action.submit_tool_outputs;
        // Approvals are not the client's: it waits until a person has decided.
        const calls = tool_calls.filter(({ needs }) => needs === "output");
        if (calls.length === 0) return "";
        const asked = close() + calls.map(ask).join("");
        return of.whole ? asked : asked + end("completed", frame.at);
      }
      case "run.completed": {
        const { output: text } = frame.data;
        const isSaid = output.some(({ type }) => type === "message");
        const said = !isSaid && text ? sayWhole(text) : "";
        return said + end(limit === null ? "completed" : "incomplete", frame.at);
      }
      case "run.failed":
        failed = { code: frame.data.error.code, message: frame.data.error.message };
        return end(frame.data.status, frame.at);
      default:
        return "";
    }
  }

  /** What no model call of this stretch has said. */
  function sayWhole(text: string): string {
    const opening = start("output", saidIn + 1);
    open = { ...open!, text };
    return opening + sent("response.output_text.delta", { ...partPlace(open), delta: text, logprobs: [] }) + close();
  }

  return {
    event(frame, answer = null) {
      if (isOver) return "";
      seq = frame.seq;
      const opening = isBegun ? "" : begin(frame.event === "run.created" && frame.data.status === "queued");
      floor = placeOf(frame.seq, 0);
      return opening + event(frame, answer);
    },
    token({ kind, text, end: to }, { start: entry, step_index }) {
      if (isOver) return "";
      const from = to - text.length;
      floor = placeOf(entry, from);
      const ended = open && (open.kind !== kind || open.step !== step_index) ? close() : "";
      const begun = open ? ended : ended + start(kind, step_index);
      open!.text += text;
      number = placeOf(entry, to);
      if (!of.stream || number <= after) return begun;
      const had = Math.floor((after - floor) / perCharacter);
      const delta = had > 0 ? text.slice(had) : text;
      const restarted = open!.isVoid ? `,"restarted":true` : "";
      open!.isVoid = false;
      const rest = kind === "output" ? `,"logprobs":[]` : "";
      return `${begun}${head}${JSON.stringify(delta)}${rest}${restarted},"sequence_number":${number}}\n\n`;
    },
    get closing() {
      return of.stream ? errorEvent(stopping(), number) : "";
    },
    error: (why) => errorEvent(why, number),
    // Some clients read all once more and leave out what they had: no event may tell of both.
    isApart: of.stream && of.after !== null,
    isLast: () => isOver,
    soFar: () => ({ object: object(), status, output: [...output], seq, failed }),
  };
}

function errorEvent(why: AppError, number: number): string {
  const { code, message, param } = openAiError(why).error;
  return `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param, sequence_number: Math.max(0, number) })}\n\n`;
}

const partName = (kind: Kind): string => (kind === "output" ? "content_part" : "reasoning_summary_part");
const textName = (kind: Kind): string => (kind === "output" ? "output_text" : "reasoning_summary_text");
const partOf = (kind: Kind, text: string) => (kind === "output" ? outputText(text) : { type: "summary_text", text });
const empty = (kind: Kind) => (kind === "output" ? { content: [] } : { summary: [] });

const partPlace = ({ id: item_id, kind, index: output_index }: OpenItem) =>
  kind === "output" ? { item_id, output_index, content_index: 0 } : { item_id, output_index, summary_index: 0 };

const itemOf = ({ id, kind, text }: OpenItem, status: string): Item =>
  kind === "output"
    ? { id, type: "message", status, role: "assistant", content: text === "" ? [] : [outputText(text)] }
    : { id, type: "reasoning", status, summary: text === "" ? [] : [{ type: "summary_text", text }] };

/** A delta event up to its text: the rest of it changes with every one. */
function headOf(open: OpenItem): string {
  const type = `response.${textName(open.kind)}.delta`;
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...partPlace(open) }).slice(0, -1)},"delta":`;
}

const usageOf = ({
  input,
  cached,
  output,
  reasoning,
}: Record<"input" | "cached" | "output" | "reasoning", number>) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});
