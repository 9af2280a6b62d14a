import type { RunFrame } from "../../domain/api-types/events.ts";
import { type Frame, isLastFrame } from "../../domain/api-types/frames.ts";
import type { AppError } from "../../domain/errors.ts";
import type { RequiredCall } from "../../domain/run-event.ts";
import { isObject } from "../../lib/json.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { EventEncoder } from "../../runs/stream/stream.ts";
import { eventId, type RunCall } from "./event-id.ts";
import { errorOf, notificationOf, type Peer, requestOf, resultOf, sessionVersions, thrownAs } from "./protocol.ts";
import { questionId, questionOf } from "./questions.ts";

/** Encodes a run as the response to a tool call. Deltas are dropped, because the protocol has no partial results. */
export function mcpDialect(call: RunCall, peer: Peer): EventEncoder {
  const { run_id, id, progressToken } = call;
  // Without a session a stream cannot be resumed, so it needs no ids.
  const line = (seq: number) => (peer.session === null ? "" : `id: ${eventId(call, seq)}\n`);
  const writeMessage = (seq: number, message: object) =>
    `event: message\n${line(seq)}data: ${JSON.stringify(message)}\n\n`;
  const progress = ({ seq, ...frame }: Frame) =>
    progressToken === null
      ? ""
      : writeMessage(
          seq,
          notificationOf("notifications/progress", { progressToken, progress: seq, message: progressOf(frame) }),
        );

  /**
   * Only the last question advances the event id, so that a client that disconnects before it gets all of them again.
   */
  const questions = (seq: number, calls: readonly RequiredCall[]) =>
    calls.map((each, index) =>
      writeMessage(
        index === calls.length - 1 ? seq : seq - 1,
        requestOf(questionId(run_id, each.id), "elicitation/create", askedBy(each)),
      ),
    );

  /** A first event without a message, so that the client has an id to resume from. Older clients reject it. */
  const opening = (seq: number) =>
    peer.session !== null && peer.version >= sessionVersions[0] ? `${line(seq)}data: \n\n` : "";

  return {
    event(frame) {
      switch (frame.event) {
        case "run.created":
          return opening(frame.seq) + progress(frame);
        case "run.completed":
        case "run.failed":
          return writeMessage(frame.seq, resultOf(id, inVersion(peer, endOf(run_id, frame))));
        case "run.requires_action": {
          const { tool_calls } = frame.data.required_action.submit_tool_outputs;
          if (isFinal(peer, tool_calls))
            return writeMessage(frame.seq, resultOf(id, inVersion(peer, actionRequiredResult(call, peer, tool_calls))));
          return progress(frame) + questions(frame.seq, tool_calls).join("");
        }
        default:
          return progress(frame);
      }
    },
    token: () => "",
    // No id, so that the client resumes where it stopped.
    error: (why: AppError) => `event: message\ndata: ${JSON.stringify(errorOf(id, thrownAs(why)))}\n\n`,
    isLast: (frame) =>
      isLastFrame(frame.event) ||
      (frame.event === "run.requires_action" &&
        isFinal(peer, frame.data.required_action.submit_tool_outputs.tool_calls)),
  };
}

const canAsk = (peer: Peer, calls: readonly RequiredCall[]): boolean =>
  peer.elicits && calls.every((call) => questionOf(call) !== null);

const askedBy = (call: RequiredCall) => requireValue(questionOf(call), `The question of ${call.id}`);

/** True if a waiting run ends the response, because the client cannot be asked on the same stream. */
const isFinal = (peer: Peer, calls: readonly RequiredCall[]): boolean => peer.session === null || !canAsk(peer, calls);

/** Returns the result in the format of the peer's version. */
export const inVersion = (peer: Peer, result: object): object =>
  peer.session === null ? { resultType: "complete", ...result } : result;

/** Result of a waiting run: questions for the client, or a note that another person has to answer. */
export function actionRequiredResult(
  { run_id }: Pick<RunCall, "run_id">,
  peer: Peer,
  calls: readonly RequiredCall[],
): object {
  if (!canAsk(peer, calls)) return waitingResult(run_id, calls);
  const inputRequests = Object.fromEntries(
    calls.map((call) => [call.id, { method: "elicitation/create", params: askedBy(call) }]),
  );
  return { resultType: "input_required", inputRequests, requestState: run_id };
}

/** Result for a client that cannot be asked: the run continues once it is answered elsewhere. */
const waitingResult = (run_id: string, calls: readonly RequiredCall[]) => ({
  content: [
    textOf(
      `The run ${run_id} is not over: it waits for ${calls.map(({ tool, needs }) => `${words[needs]} "${tool}"`).join(", ")}. ` +
        `Answer it in the dashboard, or by POST /v1/runs/${run_id}/submit_tool_outputs.`,
    ),
  ],
  // Marked as an error because with an output schema, only errors may lack structured content.
  isError: true,
  _meta: { "runnel/run_id": run_id, "runnel/status": "requires_action" },
});

const words = {
  approval: "an approval of",
  output: "the output of",
  reconcile: "word of what became of",
  elicitation: "an answer to the question of",
};

const textOf = (text: string) => ({ type: "text" as const, text });

type Ended = Extract<Frame, { event: "run.completed" | "run.failed" }>;

function endOf(run_id: string, { data }: Ended): object {
  const _meta = { "runnel/run_id": run_id, "runnel/status": data.status };
  if (data.status !== "completed") {
    const { error, output } = data as Extract<Ended, { event: "run.failed" }>["data"];
    const textContent = output ? [textOf(output)] : [];
    return { content: [...textContent, textOf(`${error.code}: ${error.message}`)], isError: true, _meta };
  }
  const { output, output_json } = data as Extract<Ended, { event: "run.completed" }>["data"];
  return { content: [textOf(output ?? "")], ...(isObject(output_json) && { structuredContent: output_json }), _meta };
}

/** Describes progress for people. */
function progressOf(frame: RunFrame): string {
  switch (frame.event) {
    case "run.created":
      return `${frame.data.id} began.`;
    case "step.started":
      return `${frame.data.name}…`;
    case "tool.requested":
      return `Calls ${frame.data.tool}.`;
    case "tool.completed":
      return `${frame.data.tool}: ${frame.data.status}.`;
    default:
      return frame.event;
  }
}
