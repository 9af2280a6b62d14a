import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { Row } from "./rows.ts";
import { statusWord, typeWord } from "./step-words.ts";

/** What a step says, once: it is searched with every letter that is typed. */
const texts = new WeakMap<TraceStep, string>();

/** Rows that say all of these words, anywhere: in their names, arguments, outputs or errors. */
export function findSteps(rows: readonly Row[], sought: string): Row[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const text = `${row.name} ${row.sub} ${typeWord(row.type)}`.toLowerCase();
    const more = row.step ? textOf(row.step) : "";
    return words.every((word) => text.includes(word) || more.includes(word));
  });
}

function textOf(step: TraceStep): string {
  const known = texts.get(step);
  if (known !== undefined) return known;
  const { input, output, reasoning, error, tool_call_id, id, status } = step;
  const said = JSON.stringify([input, output, reasoning, error, tool_call_id, id]);
  const text = `${said} ${statusWord[status]}`.toLowerCase();
  texts.set(step, text);
  return text;
}
