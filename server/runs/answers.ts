import type { RunHead } from "../journal/journal.ts";
import type { AskKind, Asks } from "../worker/messages.ts";
import type { AnswerQuestion } from "./pool.ts";

type Answerer<Kind extends AskKind> = (
  head: RunHead,
  question: Asks[Kind]["ask"],
) => Asks[Kind]["answer"] | Promise<Asks[Kind]["answer"]>;

/** What loops ask of the main thread, and who knows it. */
export type Answerers = { [Kind in AskKind]: Answerer<Kind> };

/** Answers each kind of question by its own function. */
export const createAnswers =
  (answerers: Answerers): AnswerQuestion =>
  (head, question) =>
    (answerers[question.of] as Answerer<AskKind>)(head, question as never);
