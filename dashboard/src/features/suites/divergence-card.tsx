import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Divergence } from "../../../../server/core/run-event.ts";
import { jsonText } from "../../lib/json-text.ts";
import { diffLines, diffWords } from "../../lib/text-diff.ts";
import { DiffText } from "../../ui/diff-text.tsx";
import { placeWords } from "./suite-words.ts";

/** One place where the replay would do something else than the record says, and what, as far as that is short. */
export function DivergenceCard({ divergence, runId }: { divergence: Divergence; runId: string }) {
  const { step_index, message, expected, actual } = divergence;
  const isShown = expected !== undefined || actual !== undefined;
  const isText = typeof expected === "string" && typeof actual === "string";
  const parts = useMemo(
    () => (isText ? diffWords(expected, actual) : diffLines(textOf(expected), textOf(actual))),
    [isText, expected, actual],
  );
  return (
    <article className="flex min-w-0 flex-col gap-2 rounded-md border border-warn-line p-3">
      <p className="wrap-anywhere">
        <Link
          to="/runs/$runId"
          params={{ runId }}
          search={{ step: step_index }}
          className="font-medium text-accent underline underline-offset-2"
        >
          {placeWords(divergence)}
        </Link>
        : {message}
      </p>
      {isShown && <DiffText mono={!isText} parts={parts} />}
    </article>
  );
}

const textOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : `${jsonText(value)}\n`;
