import { clsx } from "clsx";
import { memo, useMemo } from "react";
import type { Side } from "../../entities/run/diff-api.ts";
import { plural } from "../../lib/format.ts";
import { type DiffPart, diffLines, diffWords } from "../../lib/text-diff.ts";
import { cutPassage, linesOf } from "./fold-equal.ts";
import type { Section } from "./sections-of.ts";
import { wholePhrases } from "./whole-phrases.ts";

interface SectionSideProps {
  section: Section;
  side: Side;
  /** True if the title is shown above both sides. */
  untitled?: boolean;
}

/** One side of a section: common lines and its own. */
export const SectionSide = memo(function SectionSide({ section, side, untitled = false }: SectionSideProps) {
  const { title, kind } = section;
  if (section[side] === null) return null;
  return (
    <div className="min-w-0">
      {!untitled && <h3 className="text-2xs text-faint">{title}</h3>}
      {section[side] === "" ? (
        <p className="text-xs text-faint">None</p>
      ) : kind === "prose" ? (
        <Prose section={section} side={side} />
      ) : (
        <Lines section={section} side={side} />
      )}
    </div>
  );
});

function Prose({ section, side }: { section: Section; side: Side }) {
  const parts = useMemo(() => wholePhrases(diffWords(truncateText(section.a), truncateText(section.b))), [section]);
  const own = ownOf(side);
  return (
    <p className="max-w-(--read) text-sm whitespace-pre-wrap wrap-anywhere">
      {parts.map((part, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the parts never changes.
        <Part key={i} part={part} own={own} isFirst={i === 0} isLast={i === parts.length - 1} />
      ))}
    </p>
  );
}

function Part({ part, own, isFirst, isLast }: { part: DiffPart; own: string; isFirst: boolean; isLast: boolean }) {
  if (part.kind === "same") return <>{cutPassage(part.text, isFirst, isLast)}</>;
  if (part.kind !== own) return null;
  return part.kind === "gone" ? (
    <del className="bg-bad-soft text-bad line-through">{part.text}</del>
  ) : (
    <ins className="bg-ok-soft text-ok underline underline-offset-2">{part.text}</ins>
  );
}

function Lines({ section, side }: { section: Section; side: Side }) {
  const own = ownOf(side);
  const lines = useMemo(
    () => linesOf(diffLines(`${truncateText(section.a)}\n`, `${truncateText(section.b)}\n`), own),
    [section, own],
  );
  const Own = own === "gone" ? "del" : "ins";
  return (
    <div className="mt-0.5 rounded-md border border-line py-1 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
      {lines.map((line, i) => {
        const key = i;
        if (line.kind === "left-out")
          return (
            <div key={key} className="bg-subtle px-2.5 py-0.5 font-sans text-2xs text-faint">
              {plural(line.count, "equal line")}
            </div>
          );
        if (line.kind === "same")
          return (
            <div key={key} className="pr-2.5 pl-6">
              {line.text}
            </div>
          );
        return (
          <Own
            key={key}
            className={clsx(
              "relative block pr-2.5 pl-6 font-medium no-underline",
              own === "gone" ? "bg-bad-soft text-bad" : "bg-ok-soft text-ok",
            )}
          >
            <span aria-hidden className="absolute left-2.5 select-none">
              {own === "gone" ? "−" : "+"}
            </span>
            {line.text}
          </Own>
        );
      })}
    </div>
  );
}

const ownOf = (side: Side): "gone" | "new" => (side === "a" ? "gone" : "new");

// Characters compared per text; comparing longer texts is slow.
const longest = 64_000;

const truncateText = (text: string | null): string =>
  text === null
    ? ""
    : text.length <= longest
      ? text
      : `${text.slice(0, longest).toWellFormed()}\n… (${text.length} characters)`;
