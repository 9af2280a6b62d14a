import { clsx } from "clsx";
import type { DiffPart } from "../lib/text-diff.ts";

/** Two texts as one: what is gone is struck out, what is new is underlined; colour is the second voice. */
export function DiffText({ parts, mono = false }: { parts: readonly DiffPart[]; mono?: boolean }) {
  return (
    <div
      className={clsx(
        "max-h-160 overflow-y-auto rounded-md border border-line bg-subtle px-3 py-2 whitespace-pre-wrap wrap-anywhere",
        mono ? "font-mono text-xs" : "text-md",
      )}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard too.
      tabIndex={0}
    >
      {parts.map(({ kind, text }, i) => {
        if (kind === "gone")
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text stay where they are.
            <del key={i} className="bg-bad-soft text-bad line-through">
              {text}
            </del>
          );
        if (kind === "new")
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text stay where they are.
            <ins key={i} className="bg-ok-soft text-ok underline underline-offset-2">
              {text}
            </ins>
          );
        return text;
      })}
    </div>
  );
}
