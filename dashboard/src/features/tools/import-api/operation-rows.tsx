import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ImportedOperation, ToolImport } from "../../../../../server/resources/tools/import/schema.ts";
import { formatCount } from "../../../lib/format.ts";
import { Badge } from "../../../ui/data/badge.tsx";
import { OperationDetails } from "./operation-details.tsx";
import { canImport, type OperationGroup, type OperationRow } from "./operation-groups.ts";

const rowHeight_px = 46;

type OnMark = (operations: readonly ImportedOperation[], on: boolean) => void;

interface RowProps {
  plan: ToolImport;
  chosen: ReadonlySet<string>;
  onMark: OnMark;
}

/** Rows of which only those in sight are rendered: large documents have more than a thousand operations. */
export function OperationRows({
  rows,
  onTurn,
  canTurn,
  ...props
}: RowProps & {
  rows: readonly OperationRow[];
  /** Opens or closes a group. */
  onTurn: (tag: string) => void;
  canTurn: boolean;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight_px,
    getItemKey: (index) => keyOf(rows[index]!),
    overscan: 10,
  });
  return (
    <section
      ref={scroller}
      aria-label="Operations"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys scroll it.
      tabIndex={0}
      className="max-h-120 min-h-60 overflow-y-auto rounded-md border border-line"
    >
      <ul className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const row = rows[index]!;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
              className={clsx(
                "absolute inset-x-0 top-0 border-b border-line-soft",
                row.kind === "group" && "bg-subtle",
              )}
            >
              {row.kind === "group" ? (
                <GroupRow {...props} {...row} onTurn={canTurn ? () => onTurn(row.group.tag) : undefined} />
              ) : (
                <Operation
                  {...props}
                  operation={row.operation}
                  isOpen={open.has(row.operation.operation)}
                  onToggle={() => {
                    const next = new Set(open);
                    if (!next.delete(row.operation.operation)) next.add(row.operation.operation);
                    setOpen(next);
                  }}
                />
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const keyOf = (row: OperationRow): string =>
  row.kind === "group" ? `group ${row.group.tag}` : `operation ${row.operation.operation}`;

/** Check box of several operations: partly checked if only some are chosen. */
export function Mark({
  id,
  operations,
  chosen,
  label,
  onMark,
}: {
  operations: readonly ImportedOperation[];
  chosen: ReadonlySet<string>;
  onMark: OnMark;
} & ({ id: string; label?: undefined } | { id?: undefined; label: string })) {
  const box = useRef<HTMLInputElement>(null);
  const possible = operations.filter(canImport);
  const marked = possible.filter(({ operation }) => chosen.has(operation)).length;
  const isAll = marked > 0 && marked === possible.length;
  useEffect(() => {
    if (box.current) box.current.indeterminate = marked > 0 && !isAll;
  });
  return (
    <input
      ref={box}
      type="checkbox"
      id={id}
      aria-label={label}
      className="shrink-0"
      checked={isAll}
      disabled={possible.length === 0}
      onChange={() => onMark(possible, !isAll)}
    />
  );
}

function GroupRow({
  group: { tag, operations },
  isOpen,
  chosen,
  onMark,
  onTurn,
}: RowProps & { group: OperationGroup; isOpen: boolean; onTurn: (() => void) | undefined }) {
  const possible = operations.filter(canImport);
  const marked = possible.filter(({ operation }) => chosen.has(operation)).length;
  return (
    <div className="flex min-h-9 items-center gap-2.5 px-3 py-1">
      <Mark operations={operations} chosen={chosen} label={`All of ${tag}`} onMark={onMark} />
      <button
        type="button"
        aria-expanded={isOpen}
        disabled={!onTurn}
        onClick={onTurn}
        className="flex min-h-(--control-sm) min-w-0 flex-1 items-center gap-1.5 text-left font-strong"
      >
        <Arrow isOpen={isOpen} />
        <span className="min-w-0 wrap-anywhere">{tag}</span>
        <span className="text-xs font-normal whitespace-nowrap text-muted">
          {marked > 0 ? `${formatCount(marked)} of ${formatCount(operations.length)}` : formatCount(operations.length)}
        </span>
      </button>
    </div>
  );
}

function Operation({
  plan,
  operation: each,
  chosen,
  onMark,
  isOpen,
  onToggle,
}: RowProps & { operation: ImportedOperation; isOpen: boolean; onToggle: () => void }) {
  const { operation, tool, refusal, difference, edited, deprecated, notes } = each;
  const name = tool?.name ?? each.operation_id ?? operation;
  return (
    <>
      <div className="flex min-h-11.5 items-center gap-2.5 px-3 py-1">
        <input
          type="checkbox"
          aria-label={`Import ${name}`}
          className="shrink-0"
          checked={chosen.has(operation)}
          disabled={!canImport(each)}
          onChange={(event) => onMark([each], event.target.checked)}
        />
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={onToggle}
          className="flex min-w-0 flex-1 items-center gap-1.5 text-left"
        >
          <Arrow isOpen={isOpen} />
          <span className="min-w-0 flex-1">
            <span className={clsx("cut block", refusal ? "text-muted" : "font-medium")} title={name}>
              {name}
            </span>
            <span className="cut block text-xs text-muted" title={operation}>
              {refusal ? refusal.message : operation}
            </span>
          </span>
          <span className="flex shrink-0 flex-col items-end gap-0.5 rail:flex-row rail:gap-1.5">
            {deprecated && <Badge>deprecated</Badge>}
            {edited && <Badge title="The tool was edited after its import.">edited</Badge>}
            {notes.length > 0 && <Badge title={notes.join(" ")}>simplified</Badge>}
            {difference !== "added" && <Badge>{differenceBadges[difference]}</Badge>}
          </span>
        </button>
      </div>
      {isOpen && <OperationDetails plan={plan} operation={each} />}
    </>
  );
}

const differenceBadges = { changed: "changed", unchanged: "unchanged", refused: "not possible" };

const Arrow = ({ isOpen }: { isOpen: boolean }) => (
  <ChevronRight aria-hidden className={clsx("size-4 shrink-0 text-muted", isOpen && "rotate-90")} strokeWidth={1.5} />
);
