import { useQuery } from "@tanstack/react-query";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { stepQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { LongText } from "../../ui/value.tsx";
import { grownLength } from "./grown-text.ts";
import { type ShownRow, useReached, useReplay, useShownRow } from "./replay-context.ts";

/** Longer texts are folded instead of being taken apart. */
const longest = 64_000;

interface StepTextProps {
  text: string;
  name: string;
  growing?: boolean;
}

/** What a model wrote, as it is read; `growing` while it writes, and while a replay is at it. */
export function StepText(props: StepTextProps) {
  const replay = useReplay();
  const row = useShownRow();
  const come = useReached();
  if (replay === null || !row || props.growing || come === "all") return <Whole {...props} />;
  if (come === "nothing" || row.step?.type !== "model_call") return <NotYet />;
  return <Replayed text={props.text} row={row} step={row.step} replay={replay} />;
}

function Whole({ text, name, growing = false }: StepTextProps) {
  if (text.length > longest && !growing) return <LongText text={text} name={name} />;
  return <Markdown text={text} growing={growing} />;
}

/** As far as it had come. What the journal does not tell is there at the end, at once. */
function Replayed({ text, row, step, replay }: { text: string; row: ShownRow; step: TraceStep; replay: number }) {
  const { data } = useQuery(stepQuery(useWorkspace(), row.runId, step, row.before, "raw"));
  const length = data?.raw ? (grownLength(data.raw, replay) ?? 0) : 0;
  return <p className="caret text-md whitespace-pre-wrap wrap-anywhere">{text.slice(0, length).toWellFormed()}</p>;
}

/** Stands where a replay has not come to what was written, or came of a call. */
export function NotYet({ part = false }: { part?: boolean }) {
  return <p className="text-muted">{part ? "Running" : "Not started"} at this point.</p>;
}
