import { decidedEvents } from "../../domain/guardrail-event.ts";
import type { PendingJudgement } from "../../domain/pending-judgements.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { RunContext } from "./run-context.ts";

/** Asks one judge about one text of the next prompt. The verdict is journaled, so that no judge is asked twice. */
export async function judgePending(
  { index, on, text, tool_call_id }: PendingJudgement,
  turn: RunContext,
): Promise<void> {
  const judges = judgesOn(turn, on).filter((one) => one.index === index);
  const findings = await askJudges(judges, on, text, turn);
  const about = findings.map((finding) => ({ ...finding, tool_call_id }));
  await turn.record(...decidedEvents(about, turn.takeSteps(about.length), Math.max(0, turn.state().turns - 1)));
}
