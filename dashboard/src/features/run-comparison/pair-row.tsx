import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleHelp, GitFork, History, LoaderCircle, Square, X } from "lucide-react";
import { memo, useMemo } from "react";
import type { DiffStep as StepPair, TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { Sides } from "../../../../server/domain/diff.ts";
import type { Change, Side } from "../../entities/run/diff-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Pill } from "../../ui/data/pill.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import type { OriginLine } from "./origin-line.ts";
import { SectionSide } from "./section-side.tsx";
import { type Section, sectionsOf } from "./sections-of.ts";

interface PairRowProps {
  pair: StepPair;
  steps: Sides<ReadonlyMap<number, TraceStep>>;
  /** True if the person who forked the run wrote this output. */
  isEdited: boolean;
}

const words: Record<Change, string> = {
  equal: "equal",
  changed: "changed",
  only_a: "only in A",
  only_b: "only in B",
};

/** A step of one run beside the matching step of the other. */
export const PairRow = memo(function PairRow({ pair, steps, isEdited }: PairRowProps) {
  const { change, name, a_step_index, b_step_index } = pair;
  const a = a_step_index === null ? undefined : steps.a.get(a_step_index);
  const b = b_step_index === null ? undefined : steps.b.get(b_step_index);
  const isHere = (a_step_index === null || a) && (b_step_index === null || b);
  const sections = useMemo(() => (isHere ? sectionsOf(pair, { a, b }) : null), [isHere, pair, a, b]);
  const isEqual = change === "equal";
  return (
    <li
      aria-label={`${name}, ${words[change]}`}
      tabIndex={isEqual ? undefined : -1}
      data-difference={isEqual ? undefined : change}
      className={clsx(
        "grid border-b border-line-soft rail:grid-cols-[minmax(0,1fr)_var(--space-10)_minmax(0,1fr)]",
        "focus-visible:shadow-[inset_0_0_0_2px_var(--focus-color)]",
      )}
    >
      <Cell side="a" pair={pair} step={a} sections={sections} isEdited={isEdited} />
      <Gutter change={change} />
      <Cell side="b" pair={pair} step={b} sections={sections} isEdited={isEdited} />
    </li>
  );
});

interface CellProps {
  side: Side;
  pair: StepPair;
  step: TraceStep | undefined;
  sections: Section[] | null;
  isEdited: boolean;
}

function Cell({ side, pair, step, sections, isEdited }: CellProps) {
  const { change } = pair;
  const index = pair[`${side}_step_index`];
  if (index === null) return <div className="hatched max-rail:hidden" />;
  const isEqual = change === "equal";
  return (
    <div
      className={clsx(
        "flex min-w-0 flex-col gap-1.5 px-4 py-1.5 rail:px-5",
        isEqual && "text-muted",
        isEqual && side === "b" && "max-rail:hidden",
      )}
    >
      <span className="text-2xs text-faint rail:hidden">
        {isEqual ? "Sides, equal" : `${side.toUpperCase()}, ${words[change]}`}
      </span>
      <div className="flex min-h-6 min-w-0 items-center gap-2">
        <StepIcon type={pair.type} />
        <StepName pair={pair} step={step} />
        {!isEqual && step && <StepStatus status={step.status} />}
        {isEdited && step?.replayed && <Badge>edited</Badge>}
        <span className="ml-auto shrink-0 text-xs text-faint tabular-nums">{factOf(pair, side, step, isEdited)}</span>
      </div>
      {!isEqual && <Sections side={side} sections={sections} />}
    </div>
  );
}

function StepName({ pair, step }: { pair: StepPair; step: TraceStep | undefined }) {
  const name = step?.name ?? pair.name;
  return (
    <span className={clsx("cut", pair.change !== "equal" && "font-strong")} title={name}>
      {name}
    </span>
  );
}

function Sections({ side, sections }: { side: Side; sections: Section[] | null }) {
  if (!sections)
    return (
      <div role="status" aria-label="Loading the step" className="flex flex-col gap-2 pb-2 pl-7">
        <Skeleton className="w-2/3" />
        <Skeleton className="w-1/2" />
      </div>
    );
  return (
    <div className="flex min-w-0 flex-col gap-2 pb-1 rail:pl-7">
      {sections.map((section, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the sections never changes.
        <SectionSide key={i} section={section} side={side} />
      ))}
    </div>
  );
}

/** Duration and tokens of a step; replayed steps took no time. */
function factOf(pair: StepPair, side: Side, step: TraceStep | undefined, isEdited: boolean): string {
  if (step?.replayed) return isEdited ? "" : "recorded";
  const tokens = step?.usage?.output_tokens;
  const took = formatDuration(pair.latency_ms[side]);
  return tokens == null || pair.change === "equal" ? took : `${took} · ${formatCount(tokens)} out`;
}

const signs: Record<Change, string> = { equal: "=", changed: "≠", only_a: "−", only_b: "+" };
const signLooks: Record<Change, string> = {
  equal: "bg-subtle text-faint",
  changed: "bg-warn-soft text-warn",
  only_a: "bg-bad-soft text-bad",
  only_b: "bg-ok-soft text-ok",
};

/** Symbol between two steps, hidden from screen readers: the row has it in words. */
function Gutter({ change }: { change: Change }) {
  return (
    <span
      aria-hidden
      className={clsx("border-x border-line-soft pt-2 text-center font-strong max-rail:hidden", signLooks[change])}
    >
      {signs[change]}
    </span>
  );
}

const looks = {
  failed: ["bad", X, "Failed"],
  unknown: ["warn", CircleHelp, "Outcome unknown"],
  waiting: ["warn", CircleHelp, "Waiting"],
  rejected: ["plain", X, "Rejected"],
  cancelled: ["plain", Square, "Cancelled"],
  in_progress: ["info", LoaderCircle, "Running"],
} as const;

/** Status of a step, unless it succeeded. */
function StepStatus({ status }: { status: string }) {
  if (!Object.hasOwn(looks, status)) return null;
  const [tone, icon, word] = looks[status as keyof typeof looks];
  return (
    <Pill tone={tone} icon={icon}>
      {word}
    </Pill>
  );
}

/** Line at the step where one run forked from the other. */
export function OriginRow({ origin: { text, again } }: { origin: OriginLine }) {
  const may = usePermission("member");
  const Icon = again ? GitFork : History;
  return (
    <li className="flex items-center gap-2.5 border-y border-accent-line bg-accent-soft px-4 py-1.5 font-medium text-accent rail:px-5">
      <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
      <span className="min-w-0 wrap-anywhere">{text}</span>
      {again && again.step >= 0 && may && (
        <Link
          to="/runs/$runId"
          params={{ runId: again.runId }}
          search={{ step: again.step, fork: true }}
          className="ml-auto shrink-0 text-xs underline underline-offset-2 max-rail:hidden"
        >
          Fork again
        </Link>
      )}
    </li>
  );
}
