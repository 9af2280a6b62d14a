import { decidedEvents } from "../core/guardrail-event.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { Turn } from "./turn.ts";
import { unjudged } from "./unjudged.ts";

/** Asks one judge about one text that the model is to see next. Its verdict is journaled: nobody is asked twice. */
export async function judgePending(turn: Turn): Promise<void> {
  const state = turn.state();
  const [{ index, on, text, tool_call_id }] = unjudged(state, turn.start.agent) as [
    ReturnType<typeof unjudged>[number],
  ];
  const judges = judgesOn(turn, on).filter((one) => one.index === index);
  const findings = await askJudges(judges, on, text, turn);
  const about = findings.map((finding) => ({ ...finding, tool_call_id }));
  await turn.record(...decidedEvents(about, turn.takeSteps(about.length), Math.max(0, state.turns - 1)));
}
