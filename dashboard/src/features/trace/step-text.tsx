import { useQuery } from "@tanstack/react-query";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { stepQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Markdown } from "../../ui/data/markdown.tsx";
import { LongText } from "../../ui/data/value.tsx";
import { streamedLength } from "./grown-text.ts";
import { type ShownRow, useReplay, useReplayProgress, useShownRow } from "./replay-context.ts";

/** Longer texts are collapsed instead of parsed. */
const longest = 64_000;

interface StepTextProps {
  text: string;
  name: string;
  growing?: boolean;
}

/** A model's text; `growing` while it streams or a replay is within it. */
export function StepText(props: StepTextProps) {
  const replay = useReplay();
  const row = useShownRow();
  const replayState = useReplayProgress();
  if (replay === null || !row || props.growing || replayState === "all") return <Whole {...props} />;
  if (replayState === "nothing" || row.step?.type !== "model_call") return <PendingOutput />;
  return <Replayed text={props.text} row={row} step={row.step} replay={replay} />;
}

function Whole({ text, name, growing = false }: StepTextProps) {
  if (text.length > longest && !growing) return <LongText text={text} name={name} />;
  return <Markdown text={text} growing={growing} />;
}

/** Text as far as the replay has reached. If the journal has no deltas, it appears at the end. */
function Replayed({ text, row, step, replay }: { text: string; row: ShownRow; step: TraceStep; replay: number }) {
  const { data } = useQuery(stepQuery(useWorkspace(), row.runId, step, row.before, "raw"));
  const length = data?.raw ? (streamedLength(data.raw, replay) ?? 0) : 0;
  return <p className="caret text-md whitespace-pre-wrap wrap-anywhere">{text.slice(0, length).toWellFormed()}</p>;
}

/** Placeholder for output that a replay has not reached. */
export function PendingOutput({ part = false }: { part?: boolean }) {
  return <p className="text-muted">{part ? "Running" : "Not started"} at this point.</p>;
}
