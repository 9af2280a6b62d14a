import { isLastFrame } from "../../domain/api-types/frames.ts";
import type { AppError } from "../../domain/errors.ts";
import { progressText } from "../../domain/progress-text.ts";
import type { EventEncoder } from "../../runs/stream/stream.ts";
import { A2aError, thrownAs } from "./errors.ts";
import {
  artifactOf,
  outputParts,
  placeOf,
  questionParts,
  stateOf,
  type Task,
  type TaskRun,
  waitingState,
} from "./tasks.ts";

/** Wraps a message for a binding: JSON-RPC adds the request's id, and each binding has its own error format. */
export type Wrap = (message: { result: object } | { error: A2aError }) => object;

interface Streamed {
  run: TaskRun;
  /** First message of the stream. */
  first: Task;
  /** Journal position; earlier waits are answered already. */
  after: number;
  wrap: Wrap;
}

/** Encodes a run as task updates: first the task, then each change. */
export function a2aDialect({ run, first, after, wrap }: Streamed): EventEncoder {
  const place = placeOf(run);
  let isBegun = false;
  // Step of the model call whose text is the output so far, and that text.
  let [artifactStart, streamedText] = [-1, ""];

  const line = (message: Parameters<Wrap>[0]) => `data: ${JSON.stringify(wrap(message))}\n\n`;
  const resultLine = (update: object): string => {
    const opening = isBegun ? "" : line({ result: { task: first } });
    isBegun = true;
    return opening + line({ result: update });
  };
  const status = (state: string, timestamp: string, parts?: object[]) => {
    const message = parts && { messageId: `${run.id}-status`, ...place, role: "ROLE_AGENT", parts };
    return resultLine({ statusUpdate: { ...place, status: { state, ...(message && { message }), timestamp } } });
  };
  const artifact = (parts: Parameters<typeof artifactOf>[0], append: boolean, lastChunk: boolean) =>
    resultLine({ artifactUpdate: { ...place, artifact: artifactOf(parts), append, lastChunk } });

  return {
    event(frame) {
      switch (frame.event) {
        case "run.created":
        case "run.started":
        case "run.resumed":
        case "run.paused":
          return status(stateOf[frame.event === "run.created" ? frame.data.status : "in_progress"], frame.at);
        case "tool.progress":
          return status(stateOf.in_progress, frame.at, [{ text: progressText(frame.data) }]);
        case "run.requires_action":
          return status(waitingState(frame.data.required_action), frame.at, questionParts(frame.data.required_action));
        case "run.completed": {
          const parts = outputParts(frame.data);
          // The streamed text is the output unless a guardrail changed it.
          const isStreamed = parts[0]?.text === streamedText;
          const whole = parts.length > 0 && !isStreamed ? artifact(parts, false, true) : "";
          return whole + status(stateOf.completed, frame.at);
        }
        case "run.failed": {
          const { error, status: state } = frame.data;
          return status(stateOf[state], frame.at, [{ text: `${error.code}: ${error.message}` }]);
        }
        default:
          return "";
      }
    },
    token({ kind, text }, { start }) {
      if (kind !== "output") return "";
      const goesOn = start === artifactStart;
      [artifactStart, streamedText] = [start, goesOn ? streamedText + text : text];
      return artifact([{ text }], goesOn, false);
    },
    error: (why: AppError) => line({ error: thrownAs(why) ?? new A2aError("INTERNAL", why.message) }),
    isLast: (frame) => isLastFrame(frame.event) || (frame.event === "run.requires_action" && frame.seq > after),
  };
}
