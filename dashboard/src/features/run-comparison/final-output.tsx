import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import type { Side } from "../../entities/run/diff-api.ts";
import { Markdown } from "../../ui/data/markdown.tsx";
import { SectionSide } from "./section-side.tsx";

/** Outputs of both runs. */
export function FinalOutput({ a, b }: { a: Run; b: Run }) {
  const section = { title: "Output", kind: "prose" as const, a: a.output, b: b.output };
  const isEqual = a.output !== null && a.output === b.output;
  return (
    <section
      aria-label="Final output"
      className="grid rail:grid-cols-[minmax(0,1fr)_var(--space-10)_minmax(0,1fr)] rail:[&>*:nth-child(2)]:border-x"
    >
      <Output side="a" run={a} section={section} isEqual={isEqual} />
      <span aria-hidden className="border-line-soft bg-subtle pt-3 text-center font-strong text-faint max-rail:hidden">
        {isEqual ? "=" : ""}
      </span>
      <Output side="b" run={b} section={section} isEqual={isEqual} />
    </section>
  );
}

function Output({
  side,
  run,
  section,
  isEqual,
}: {
  side: Side;
  run: Run;
  section: Parameters<typeof SectionSide>[0]["section"];
  isEqual: boolean;
}) {
  return (
    <div className="min-w-0 border-line-soft px-4 py-3 max-rail:border-b rail:px-5">
      <h2 className="pb-1 text-sm">
        Final output <span className="text-2xs font-regular text-faint rail:hidden">{side.toUpperCase()}</span>
      </h2>
      {run.output !== null && (isEqual || section.a === null || section.b === null) ? (
        <Markdown text={run.output} />
      ) : run.output !== null ? (
        <SectionSide section={section} side={side} untitled />
      ) : (
        <p className="text-muted">{isOver(run.status) ? noneWords(run) : "None yet: the run is still in progress."}</p>
      )}
      {isEqual && <p className="pt-1 text-xs text-faint">Identical.</p>}
    </div>
  );
}

const noneWords = ({ error, status }: Run): string =>
  error ? `None: ${error.message}` : status === "cancelled" ? "None: the run was cancelled." : "None.";
