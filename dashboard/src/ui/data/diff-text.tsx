import { clsx } from "clsx";
import type { DiffPart } from "../../lib/text-diff.ts";

/** Diff of two texts: removed text is struck out, added text underlined; colour only supports this. */
export function DiffText({ parts, mono = false }: { parts: readonly DiffPart[]; mono?: boolean }) {
  return (
    <div
      className={clsx(
        "max-h-160 overflow-y-auto rounded-md border border-line bg-subtle px-3 py-2 whitespace-pre-wrap wrap-anywhere",
        mono ? "font-mono text-xs" : "text-md",
      )}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
      tabIndex={0}
    >
      {parts.map(({ kind, text }, i) => {
        if (kind === "gone")
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the parts never changes.
            <del key={i} className="bg-bad-soft text-bad line-through">
              {text}
            </del>
          );
        if (kind === "new")
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the parts never changes.
            <ins key={i} className="bg-ok-soft text-ok underline underline-offset-2">
              {text}
            </ins>
          );
        return text;
      })}
    </div>
  );
}
