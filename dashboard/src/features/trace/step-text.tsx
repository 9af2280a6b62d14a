import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { grownLength } from "./fns/grown-text.ts";
import type { Row } from "./fns/rows.ts";
import type { TraceStep } from "./fns/trace-types.ts";
import { LongText } from "./long-text.tsx";
import { useReplay } from "./replay-context.ts";
import { useShownRow } from "./row-context.ts";
import { stepQuery } from "./trace-api.ts";

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
  if (replay === null || !row || props.growing || row.end === null || replay >= row.end) return <Whole {...props} />;
  if (replay < row.start) return <p className="text-muted">Not written yet, where the replay stands.</p>;
  if (row.step?.type !== "model_call") return <Whole {...props} />;
  return <Replayed text={props.text} row={row} step={row.step} replay={replay} />;
}

function Whole({ text, name, growing = false }: StepTextProps) {
  if (text.length > longest && !growing) return <LongText text={text} name={name} />;
  return <Markdown text={text} growing={growing} />;
}

/** As far as it had come. What the journal does not tell is there at the end, at once. */
function Replayed({ text, row, step, replay }: { text: string; row: Row; step: TraceStep; replay: number }) {
  const { data } = useQuery(stepQuery(useWorkspace(), row.runId, step, row.before, "raw"));
  const length = data?.raw ? (grownLength(data.raw, replay) ?? 0) : 0;
  return <p className="caret text-md whitespace-pre-wrap wrap-anywhere">{text.slice(0, length).toWellFormed()}</p>;
}
