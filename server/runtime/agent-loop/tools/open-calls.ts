import { equalJson } from "../../../domain/equal.ts";
import { newId } from "../../../domain/ids.ts";
import type { Elicitation } from "../../../domain/run-event.ts";
import type { AnsweredElicitation } from "../../../domain/run-state.ts";
import type { Elicit, McpAnswer, McpQuestion } from "../../mcp/elicitation.ts";
import type { McpResult } from "../../mcp/read-result.ts";

/** Calls of MCP servers that ask the user something, by tool call id. They stay open while the run waits. */
export type OpenCalls = Map<string, OpenCall>;

type OpenCall = ReturnType<typeof createOpenCall>;

interface Asked {
  question: Elicitation;
  reply: PromiseWithResolvers<McpAnswer>;
}

type Begin = (elicit: Elicit, signal: AbortSignal) => Promise<McpResult>;

/**
 * Makes a call that may ask the user several things, one after the other. `answered` are the answers to questions of
 * the same call in a connection that was lost: the server gets them again.
 */
export function createOpenCall(begin: Begin, answered: readonly AnsweredElicitation[] = []) {
  const abort = new AbortController();
  const known = [...answered];
  const open: Asked[] = [];
  let arrived = Promise.withResolvers<void>();
  let isOver = false;

  const elicit: Elicit = (question, signal) => {
    const answer = takeAnswer(known, question);
    if (answer) return Promise.resolve(answer);
    const asked = { question: { id: newId("elicitation"), ...question }, reply: Promise.withResolvers<McpAnswer>() };
    open.push(asked);
    arrived.resolve();
    // A question that the server withdraws is dismissed.
    signal?.addEventListener("abort", () => asked.reply.resolve({ action: "cancel" }));
    return asked.reply.promise;
  };
  const result = begin(elicit, abort.signal).finally(() => {
    isOver = true;
  });
  result.catch(() => {}); // It may fail while the run waits.

  return {
    /** Returns the next question, or the result. Throws the failure of the call. */
    async next(): Promise<{ question: Elicitation } | { result: McpResult }> {
      if (!isOver && open.length === 0) await Promise.race([result.catch(() => {}), arrived.promise]);
      const [first] = open;
      return first && !isOver ? { question: first.question } : { result: await result };
    },
    /** Gives the server the answer to a question, if it still waits for one. */
    answer({ id, answer: { id: _, ...answer } }: AnsweredElicitation): void {
      const place = open.findIndex(({ question }) => question.id === id);
      const [asked] = place < 0 ? [] : open.splice(place, 1);
      if (open.length === 0) arrived = Promise.withResolvers();
      // Exact numbers become plain ones, which the SDK can check.
      asked?.reply.resolve(JSON.parse(JSON.stringify(answer)) as McpAnswer);
    },
    /** Settles when the call is over. */
    over: result.then(
      () => {},
      () => {},
    ),
    isOver: () => isOver,
    abort: () => abort.abort(),
  };
}

/** Takes the answer to the same question out of the list. */
function takeAnswer(known: AnsweredElicitation[], question: McpQuestion): McpAnswer | null {
  const place = known.findIndex(({ id: _, answer: __, before_call: ___, ...asked }) => equalJson(asked, question));
  const [found] = place < 0 ? [] : known.splice(place, 1);
  if (!found) return null;
  const { id: _, ...answer } = found.answer;
  return answer;
}
