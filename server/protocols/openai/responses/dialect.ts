import type { Frame } from "../../../domain/api-types/frames.ts";
import type { AppError, CodedError } from "../../../domain/errors.ts";
import type { RequiredCallObject } from "../../../domain/required-action.ts";
import type { ModelAnswer } from "../../../domain/run-event.ts";
import { requireValue } from "../../../lib/require-value.ts";
import type { EventEncoder } from "../../../runs/stream/stream.ts";
import { openAiError, shuttingDown } from "../errors.ts";
import { answerItemId, callItemId, type ResponsePosition } from "../item-ids.ts";
import { outputText } from "../items.ts";

interface ResponseOf {
  stretch: ResponsePosition;
  /** Fields that do not change. */
  about: object;
  /** True if a client reads its events. */
  stream: boolean;
  /** Number of the last event that the reader has; -1: none. Null: the response is new. */
  after: number | null;
  /** True to go on past questions for the client, to the end of the run. */
  whole?: boolean;
}

/** An item of a response. */
type Item = { id: string; type: string } & Record<string, unknown>;

/** State of a response. */
export interface ResponseSoFar {
  object: object;
  status: Status;
  output: Item[];
  /** Position of its newest entry. */
  seq: number;
  /** Error of a failed run. */
  failed: CodedError | null;
}

type Status = "queued" | "in_progress" | "completed" | "failed" | "cancelled" | "incomplete";
type Kind = "output" | "reasoning";

/** The item that is being streamed. */
interface OpenItem {
  id: string;
  kind: Kind;
  index: number;
  step: number;
  text: string;
  /** True if the text streamed so far is void, because the model was called again. */
  isVoid: boolean;
}

// An event number encodes a place in the journal, so that a reader resumes exactly: the entry's number, the length of
// the step's text streamed by then, and the index among events between two characters.
const perEntry = 2 ** 24;
const perCharacter = 8;

/** Returns a number at or above those of all events of a run with this many entries. */
export const lastNumber = (seq: number): number => (seq + 1) * perEntry;

/** Encodes a part of a run as a response: its items, and their events. */
export function responseDialect(of: ResponseOf): EventEncoder & { soFar(): ResponseSoFar } {
  const { run_id } = of.stretch;
  const after = of.after ?? -1;
  const output: Item[] = [];
  const counts = { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 };
  let open: OpenItem | null = null;
  let [items, saidIn, saidItems] = [0, -1, 0];
  /** Step of the last model answer, and the steps of messages by item id. */
  let answerStep = -1;
  const stepOf = new Map<string, number>();
  let [status, seq, isBegun, isOver] = ["in_progress" as Status, of.stretch.seq, false, false];
  /** Number of the last event, and the lowest number for the next. */
  let [number, floor] = [-1, -1];
  let limit: string | null = null;
  let failed: CodedError | null = null;
  let endedAt: number | null = null;
  /** Delta event of the open item, up to its text. */
  let head = "";

  const eventLine = (type: string, fields: object): string => {
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
    return (
      eventLine("response.created", { response: object() }) + eventLine(`response.${status}`, { response: object() })
    );
  }

  function start(kind: Kind, step: number): string {
    if (saidIn !== step) [saidIn, saidItems] = [step, 0];
    const id = answerItemId(kind === "output" ? "msg" : "rs", run_id, step, saidItems++);
    open = { id, kind, index: items++, step, text: "", isVoid: false };
    const index = { output_index: open.index };
    const place = partPlace(open);
    head = headOf(open);
    return (
      eventLine("response.output_item.added", { ...index, item: { ...itemOf(open, "in_progress"), ...empty(kind) } }) +
      eventLine(`response.${partName(kind)}.added`, { ...place, part: partOf(kind, "") })
    );
  }

  /** Ends the open item. Voided text is not part of the output. */
  function close(isCut = false): string {
    if (!open) return "";
    const closedItem = open;
    const { kind, text, index } = closedItem;
    const item = itemOf(closedItem, isCut || text === "" ? "incomplete" : "completed");
    open = null;
    if (text !== "") output.push(item);
    stepOf.set(closedItem.id, closedItem.step);
    const place = partPlace(closedItem);
    return (
      eventLine(`response.${textName(kind)}.done`, { ...place, text, ...(kind === "output" && { logprobs: [] }) }) +
      eventLine(`response.${partName(kind)}.done`, { ...place, part: partOf(kind, text) }) +
      eventLine("response.output_item.done", { output_index: index, item })
    );
  }

  function ask({ tool_call_id: call_id, name, arguments: args }: RequiredCallObject): string {
    const text = JSON.stringify(args);
    const output_index = items++;
    const item = { id: callItemId(run_id, call_id), type: "function_call", call_id, name, arguments: text };
    const place = { item_id: item.id, output_index };
    const completedItem = { ...item, status: "completed" };
    output.push(completedItem);
    return (
      eventLine("response.output_item.added", {
        output_index,
        item: { ...item, arguments: "", status: "in_progress" },
      }) +
      eventLine("response.function_call_arguments.delta", { ...place, delta: text }) +
      eventLine("response.function_call_arguments.done", { ...place, name, arguments: text }) +
      eventLine("response.output_item.done", { output_index, item: completedItem })
    );
  }

  function end(as: Status, when: string): string {
    const last = close(as !== "completed");
    [isOver, status, endedAt] = [true, as, Math.floor(Date.parse(when) / 1000)];
    // OpenAI has no event for cancelled responses.
    return last + eventLine(`response.${as === "cancelled" ? "failed" : as}`, { response: object() });
  }

  function count({ usage, finish }: ModelAnswer): void {
    counts.input += usage.input_tokens ?? 0;
    counts.output += usage.output_tokens ?? 0;
    counts.cached += usage.cached_input_tokens ?? 0;
    counts.written += (usage.cache_write_5m_tokens ?? 0) + (usage.cache_write_1h_tokens ?? 0);
    counts.reasoning += usage.reasoning_tokens ?? 0;
    limit = finish === "length" ? "max_output_tokens" : finish === "content_filter" ? "content_filter" : null;
  }

  function event(frame: Frame, answer: ModelAnswer | null): string {
    switch (frame.event) {
      case "run.started":
        if (status !== "queued") return "";
        status = "in_progress";
        return eventLine("response.in_progress", { response: object() });
      case "step.completed": {
        if (!answer) return "";
        answerStep = frame.data.step_index;
        count(answer);
        return close();
      }
      case "step.restarted":
        // Streamed text cannot be taken back: the next delta marks it as void.
        if (open?.step === frame.data.step_index) open = { ...open, text: "", isVoid: true };
        return "";
      case "output.rejected": {
        // Keep messages of earlier steps, also if this one had no text.
        const isRejected = ({ id, type }: Item) => type === "message" && stepOf.get(id) === answerStep;
        output.splice(0, output.length, ...output.filter((item) => !isRejected(item)));
        return "";
      }
      case "run.requires_action": {
        const { tool_calls } = frame.data.required_action.submit_tool_outputs;
        // Approvals are not for the client: the stream waits until a person has decided.
        const calls = tool_calls.filter(({ needs }) => needs === "output");
        if (calls.length === 0) return "";
        const callEvents = close() + calls.map(ask).join("");
        return of.whole ? callEvents : callEvents + end("completed", frame.at);
      }
      case "run.completed": {
        const { output: text } = frame.data;
        const hasMessage = output.some(({ type }) => type === "message");
        const textEvents = !hasMessage && text ? sayWhole(text) : "";
        return textEvents + end(limit === null ? "completed" : "incomplete", frame.at);
      }
      case "run.failed":
        failed = { code: frame.data.error.code, message: frame.data.error.message };
        return end(frame.data.status, frame.at);
      default:
        return "";
    }
  }

  /** Adds an output that no model call of this part has streamed. */
  function sayWhole(text: string): string {
    const opening = start("output", saidIn + 1);
    open = { ...requireValue(open, "The open item"), text };
    return (
      opening + eventLine("response.output_text.delta", { ...partPlace(open), delta: text, logprobs: [] }) + close()
    );
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
      const closeEvents = open && (open.kind !== kind || open.step !== step_index) ? close() : "";
      const openEvents = open ? closeEvents : closeEvents + start(kind, step_index);
      const item = requireValue(open, "The open item");
      item.text += text;
      number = placeOf(entry, to);
      if (!of.stream || number <= after) return openEvents;
      const receivedLength = Math.floor((after - floor) / perCharacter);
      const delta = receivedLength > 0 ? text.slice(receivedLength) : text;
      const restarted = item.isVoid ? `,"restarted":true` : "";
      item.isVoid = false;
      const rest = kind === "output" ? `,"logprobs":[]` : "";
      return `${openEvents}${head}${JSON.stringify(delta)}${rest}${restarted},"sequence_number":${number}}\n\n`;
    },
    get closing() {
      return of.stream ? errorEvent(shuttingDown(), number) : "";
    },
    error: (why) => errorEvent(why, number),
    // Some clients read everything again and skip what they had, so an event must not span both.
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

/** Returns a delta event up to its text; the rest differs for each. */
function headOf(open: OpenItem): string {
  const type = `response.${textName(open.kind)}.delta`;
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...partPlace(open) }).slice(0, -1)},"delta":`;
}

const usageOf = ({
  input,
  cached,
  written,
  output,
  reasoning,
}: Record<"input" | "cached" | "written" | "output" | "reasoning", number>) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, ...(written > 0 && { cache_write_tokens: written }) },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});
