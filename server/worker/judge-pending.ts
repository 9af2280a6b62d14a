import { decidedEvents } from "../core/guardrail-event.ts";
import type { Unjudged } from "../core/unjudged.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { Turn } from "./turn.ts";

/** Asks one judge about one text that the model is to see next. Its verdict is journaled: nobody is asked twice. */
export async function judgePending({ index, on, text, tool_call_id }: Unjudged, turn: Turn): Promise<void> {
  const judges = judgesOn(turn, on).filter((one) => one.index === index);
  const findings = await askJudges(judges, on, text, turn);
  const about = findings.map((finding) => ({ ...finding, tool_call_id }));
  await turn.record(...decidedEvents(about, turn.takeSteps(about.length), Math.max(0, turn.state().turns - 1)));
}
