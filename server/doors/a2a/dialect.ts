import type { AppError } from "../../core/errors.ts";
import type { Dialect } from "../../runs/stream.ts";
import { isLastFrame } from "../../wire/frames.ts";
import { A2aError, thrownAs } from "./errors.ts";
import { artifactOf, outputParts, placeOf, questionParts, stateOf, type Task, type TaskRun } from "./tasks.ts";

/** How a binding writes a message: JSON-RPC names the request, and each has a form of its own for errors. */
export type Wrap = (message: { result: object } | { error: A2aError }) => object;

interface Streamed {
  run: TaskRun;
  /** What the stream begins with. */
  first: Task;
  /** Waits before this place of the journal were answered already. */
  after: number;
  wrap: Wrap;
}

/** A run as the updates of a task: first the task, then what becomes of it. */
export function a2aDialect({ run, first, after, wrap }: Streamed): Dialect {
  const place = placeOf(run);
  let isBegun = false;
  // The model call whose text is the output so far, and that text.
  let [begunAt, said] = [-1, ""];

  const line = (message: Parameters<Wrap>[0]) => `data: ${JSON.stringify(wrap(message))}\n\n`;
  const say = (update: object): string => {
    const opening = isBegun ? "" : line({ result: { task: first } });
    isBegun = true;
    return opening + line({ result: update });
  };
  const status = (state: string, timestamp: string, parts?: object[]) => {
    const message = parts && { messageId: `${run.id}-status`, ...place, role: "ROLE_AGENT", parts };
    return say({ statusUpdate: { ...place, status: { state, ...(message && { message }), timestamp } } });
  };
  const artifact = (parts: Parameters<typeof artifactOf>[0], append: boolean, lastChunk: boolean) =>
    say({ artifactUpdate: { ...place, artifact: artifactOf(parts), append, lastChunk } });

  return {
    event(frame) {
      switch (frame.event) {
        case "run.created":
        case "run.started":
        case "run.resumed":
          return status(stateOf[frame.event === "run.created" ? frame.data.status : "in_progress"], frame.at);
        case "run.requires_action":
          return status(stateOf.requires_action, frame.at, questionParts(frame.data.required_action));
        case "run.completed": {
          const parts = outputParts(frame.data);
          // The text that was streamed is the output, where nothing has changed it.
          const isSaid = parts[0]?.text === said;
          const whole = parts.length > 0 && !isSaid ? artifact(parts, false, true) : "";
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
      const goesOn = start === begunAt;
      [begunAt, said] = [start, goesOn ? said + text : text];
      return artifact([{ text }], goesOn, false);
    },
    error: (why: AppError) => line({ error: thrownAs(why) ?? new A2aError("INTERNAL", why.message) }),
    isLast: (frame) => isLastFrame(frame.event) || (frame.event === "run.requires_action" && frame.seq > after),
  };
}
