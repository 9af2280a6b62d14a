import type { Frame } from "../../domain/api-types/frames.ts";
import type { RequiredCallObject } from "../../domain/required-action.ts";
import type { ModelAnswer, RunError } from "../../domain/run-event.ts";
import type { EventEncoder } from "../../runs/stream/stream.ts";
import { failedRun, openAiError, shuttingDown } from "./errors.ts";

/** A chat completion: the part of a run from a position to its end or to its next question for the client. */
interface ChatOf {
  id: string;
  model: string;
  /** Seconds. */
  created: number;
  stream: boolean;
  /** True if the stream ends with the usage. */
  usage: boolean;
  /** True if the answer has to be JSON only. */
  isJson: boolean;
}

interface Failed {
  status: number;
  body: object;
}

/** The completion, or the run's error; null while the run continues. */
type ChatResult = { completion: object } | { failed: Failed } | null;

type Finish = "stop" | "length" | "content_filter" | "tool_calls";

/**
 * Encodes a run as one assistant message. Texts of several turns become paragraphs; if JSON is required, only the last
 * one is sent.
 */
export function chatDialect(of: ChatOf): EventEncoder & { result(): ChatResult } {
  const { id, model, created, stream } = of;
  const counts = { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 };
  let [content, thought] = ["", ""];
  /** First non-space character of the content, kept apart because indexing a joined string would flatten it. */
  let first = "";
  /** Content that was not streamed yet. */
  let bufferedText = "";
  let hasStarted = false;
  /** Step of the last model answer, and where its text begins in the content. */
  let lastStep = { step: -1, begin: 0 };
  let finish: Finish = "stop";
  let [isBegun, result] = [false, null as ChatResult];

  const chunk = (choices: object[], more: object = {}): string => {
    const base = { id, object: "chat.completion.chunk", created, model, choices };
    return `data: ${JSON.stringify({ ...base, ...more })}\n\n`;
  };
  const open = (): string => {
    if (isBegun) return "";
    isBegun = true;
    return chunk([choiceOf({ role: "assistant", content: "" }, null)]);
  };
  const deltaChunk = (delta: object, finish_reason: Finish | null = null): string =>
    stream ? open() + chunk([choiceOf(delta, finish_reason)]) : "";
  // Serialize a chunk once: between chunks only the text differs.
  const [head, tail] = chunk([choiceOf({ "\n": "" }, null)]).split('"\\n":""') as [string, string];
  const sayText = (name: "content" | "reasoning_content", text: string): string =>
    stream ? `${open()}${head}"${name}":${JSON.stringify(text)}${tail}` : "";

  function conclude(reason: Finish, calls: readonly RequiredCallObject[] = []): string {
    const tool_calls = calls.map(callOf);
    const toolCallsField = tool_calls.length > 0 && { tool_calls };
    const reasoning = thought !== "" && { reasoning_content: thought };
    const message = {
      role: "assistant",
      content: content || (toolCallsField ? null : ""),
      refusal: null,
      ...reasoning,
      ...toolCallsField,
    };
    const usage = usageOf(counts);
    result = {
      completion: {
        id,
        object: "chat.completion",
        created,
        model,
        choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
        usage,
      },
    };
    if (!stream) return "";
    const rest = flush();
    const last = tool_calls.map((call, index) => deltaChunk({ tool_calls: [{ index, ...call }] })).join("");
    return `${rest}${last}${deltaChunk({}, reason)}${of.usage ? chunk([], { usage }) : ""}data: [DONE]\n\n`;
  }

  function fail(error: Pick<RunError, "code" | "message">): string {
    const failed = failedRun(error);
    result = { failed };
    return stream ? `data: ${JSON.stringify(failed.body)}\n\n` : "";
  }

  function count(answer: ModelAnswer): void {
    const { usage } = answer;
    counts.input += usage.input_tokens ?? 0;
    counts.output += usage.output_tokens ?? 0;
    counts.cached += usage.cached_input_tokens ?? 0;
    counts.written += (usage.cache_write_5m_tokens ?? 0) + (usage.cache_write_1h_tokens ?? 0);
    counts.reasoning += usage.reasoning_tokens ?? 0;
    finish = answer.finish === "length" || answer.finish === "content_filter" ? answer.finish : "stop";
  }

  const stepAt = (step: number) => ({ step, begin: content.length });

  function text(delta: string, step: number): string {
    const isNext = lastStep.step !== step && content !== "";
    if (isNext && of.isJson) truncate(0);
    const whole = isNext && (!of.isJson || hasStarted) ? `\n\n${delta}` : delta;
    if (lastStep.step !== step) lastStep = stepAt(step);
    content += whole;
    bufferedText += whole;
    first ||= whole.trimStart().charAt(0);
    // Hold back text that does not begin like JSON until it turns out to be the last.
    return of.isJson && !hasStarted && first !== "{" && first !== "[" ? "" : flush();
  }

  function flush(): string {
    if (bufferedText === "") return "";
    const text = bufferedText;
    [bufferedText, hasStarted] = ["", stream];
    return sayText("content", text);
  }

  function truncate(to: number): void {
    content = content.slice(0, to);
    first = content.trimStart().charAt(0);
    bufferedText = "";
  }

  function event(frame: Frame, answer: ModelAnswer | null): string {
    switch (frame.event) {
      case "step.completed": {
        if (!answer) return "";
        count(answer);
        if (lastStep.step !== frame.data.step_index) lastStep = stepAt(frame.data.step_index); // The step had no text.
        return "";
      }
      case "step.restarted":
        // Streamed text cannot be taken back; a client that does not stream never sees it.
        if (frame.data.step_index === lastStep.step) truncate(lastStep.begin);
        return "";
      case "output.rejected":
        truncate(lastStep.begin);
        return "";
      case "run.requires_action": {
        const calls = frame.data.required_action.submit_tool_outputs.tool_calls.filter(
          ({ needs }) => needs === "output",
        );
        // Approvals are not for the client: the stream waits until a person has decided.
        return calls.length > 0 ? conclude("tool_calls", calls) : "";
      }
      case "run.completed":
        return (content === "" && frame.data.output ? text(frame.data.output, -2) : "") + conclude(finish);
      case "run.failed":
        return fail(frame.data.error);
      default:
        return "";
    }
  }

  return {
    event: (frame, answer = null) => (result ? "" : event(frame, answer)),
    token({ kind, text: delta }, { step_index }) {
      if (result) return "";
      if (kind === "output") return text(delta, step_index);
      thought += delta;
      return sayText("reasoning_content", delta);
    },
    // A cut completion cannot be resumed: send an error, or the client takes the part for the whole.
    closing: stream ? `data: ${JSON.stringify(openAiError(shuttingDown()))}\n\n` : "",
    error: (why) => `data: ${JSON.stringify(openAiError(why))}\n\n`,
    isLast: () => result !== null,
    result: () => result,
  };
}

const choiceOf = (delta: object, finish_reason: Finish | null) => ({ index: 0, delta, logprobs: null, finish_reason });

const callOf = ({ tool_call_id, name, arguments: args }: RequiredCallObject) => ({
  id: tool_call_id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

const usageOf = ({
  input,
  cached,
  written,
  output,
  reasoning,
}: Record<"input" | "cached" | "written" | "output" | "reasoning", number>) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached, ...(written > 0 && { cache_write_tokens: written }) },
  completion_tokens_details: { reasoning_tokens: reasoning },
});
