import type { AskKind, Asks } from "../../runtime/agent-loop/messages.ts";
import type { RunHead } from "../../storage/journal/journal.ts";
import type { AnswerQuestion } from "./pool.ts";

type Answerer<Kind extends AskKind> = (
  head: RunHead,
  question: Asks[Kind]["ask"],
) => Asks[Kind]["answer"] | Promise<Asks[Kind]["answer"]>;

/** Handlers for the questions workers send to the main thread. */
export type RpcHandlers = { [Kind in AskKind]: Answerer<Kind> };

/** Dispatches each question to the handler of its kind. */
export const createWorkerRpc =
  (answerers: RpcHandlers): AnswerQuestion =>
  (head, question) =>
    (answerers[question.of] as Answerer<AskKind>)(head, question as never);
