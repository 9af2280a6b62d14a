import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { joinFacts, unknownText } from "../../lib/format.ts";
import { formatFigure, timingFigures, timingNames, useTiming } from "./use-timing.ts";

/** Time that a run has worked so far; the title adds waiting and recorded time. */
export function RunTime({ run }: { run: Pick<Run, "status" | "started_at" | "timing"> }) {
  const timing = useTiming(run);
  if (!timing) return <>{unknownText}</>;
  const show = (figure: keyof typeof timing) => formatFigure(figure, timing, run.status);
  const facts = timingFigures.map((figure) => timing[figure] && `${timingNames[figure]} ${show(figure)}`);
  return <span title={joinFacts(...facts.map((fact) => fact || null))}>{show("worked_ms")}</span>;
}
