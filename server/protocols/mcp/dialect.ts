import type { RunFrame } from "../../domain/api-types/events.ts";
import { type Frame, isLastFrame } from "../../domain/api-types/frames.ts";
import type { AppError } from "../../domain/errors.ts";
import { progressText } from "../../domain/progress-text.ts";
import type { RequiredActionObject, RequiredCallObject } from "../../domain/required-action.ts";
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
  const questions = (seq: number, calls: readonly RequiredCallObject[]) =>
    calls.map((each, index) =>
      writeMessage(
        index === calls.length - 1 ? seq : seq - 1,
        requestOf(questionId(run_id, each.tool_call_id), "elicitation/create", askedBy(each)),
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
          const { required_action } = frame.data;
          if (isFinal(peer, required_action)) {
            const result = actionRequiredResult(call, peer, required_action);
            return writeMessage(frame.seq, resultOf(id, inVersion(peer, result)));
          }
          return progress(frame) + questions(frame.seq, callsOf(required_action)).join("");
        }
        default:
          return progress(frame);
      }
    },
    token: () => "",
    // No id, so that the client resumes where it stopped.
    error: (why: AppError) => `event: message\ndata: ${JSON.stringify(errorOf(id, thrownAs(why)))}\n\n`,
    isLast: (frame) =>
      isLastFrame(frame.event) || (frame.event === "run.requires_action" && isFinal(peer, frame.data.required_action)),
  };
}

const canAsk = (peer: Peer, calls: readonly RequiredCallObject[]): boolean =>
  peer.elicits && calls.every((call) => questionOf(call) !== null);

const askedBy = (call: RequiredCallObject) => requireValue(questionOf(call), `The question of ${call.tool_call_id}`);

/** True if a waiting run ends the response, because the client cannot be asked on the same stream. */
const isFinal = (peer: Peer, action: RequiredActionObject): boolean =>
  peer.session === null || action.type === "authorization" || !canAsk(peer, callsOf(action));

const callsOf = ({ submit_tool_outputs: { tool_calls } }: RequiredActionObject): readonly RequiredCallObject[] =>
  tool_calls;

/** Returns the result in the format of the peer's version. */
export const inVersion = (peer: Peer, result: object): object =>
  peer.session === null ? { resultType: "complete", ...result } : result;

/** Result of a waiting run: questions for the client, or a note that another person has to answer. */
export function actionRequiredResult(
  { run_id }: Pick<RunCall, "run_id">,
  peer: Peer,
  action: RequiredActionObject,
): object {
  const calls = callsOf(action);
  if (action.type === "authorization" || !canAsk(peer, calls)) return waitingResult(run_id, action);
  const inputRequests = Object.fromEntries(
    calls.map((call) => [call.tool_call_id, { method: "elicitation/create", params: askedBy(call) }]),
  );
  return { resultType: "input_required", inputRequests, requestState: run_id };
}

/** Result for a client that cannot be asked: the run continues once it is answered elsewhere. */
const waitingResult = (run_id: string, action: RequiredActionObject) => ({
  content: [textOf([callsText(run_id, callsOf(action)), ...consentTexts(run_id, action)].filter(Boolean).join(" "))],
  // Marked as an error because with an output schema, only errors may lack structured content.
  isError: true,
  _meta: { "runnel/run_id": run_id, "runnel/status": "requires_action" },
});

const callsText = (run_id: string, calls: readonly RequiredCallObject[]): string =>
  calls.length === 0
    ? ""
    : `The run ${run_id} is not over: it waits for ${calls.map(({ name, needs }) => `${words[needs]} "${name}"`).join(", ")}. ` +
      `Answer it in the dashboard, or by POST /v1/runs/${run_id}/submit_tool_outputs.`;

const consentTexts = (run_id: string, { authorizations = [] }: RequiredActionObject): string[] =>
  authorizations.map(
    ({ name, url }) =>
      `The run ${run_id} is not over: it waits for the user's consent to use "${name}", and goes on once it is given` +
      (url === null ? "." : `: ${url}`),
  );

const words = {
  approval: "an approval of",
  output: "the output of",
  reconcile: "word of what became of",
  authorization: "a consent for",
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
    case "tool.progress":
      return progressText(frame.data);
    default:
      return frame.event;
  }
}
