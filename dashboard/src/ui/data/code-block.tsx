import { clsx } from "clsx";
import type { ReactNode } from "react";
import { codePieces } from "./code-pieces.ts";
import { CopyButton } from "./copy-button.tsx";

const colours = { keyword: "text-code-key", string: "text-code-string", comment: "text-faint", plain: undefined };

/** Code with a copy button; `head` is above it. Long lines scroll. */
export function CodeBlock({ code, label, head }: { code: string; label: string; head?: ReactNode }) {
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-subtle">
      {head && (
        <div className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line py-1 pr-9 pl-1.5">{head}</div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <section aria-label={label} tabIndex={0} className={clsx("overflow-x-auto py-2.5 pl-3", head ? "pr-3" : "mr-9")}>
        <pre className="leading-[1.5]">
          {codePieces(code).map(({ kind, text, at }) => (
            <span key={at} className={colours[kind]}>
              {text}
            </span>
          ))}
        </pre>
      </section>
      <span className="absolute top-1 right-1 rounded-sm bg-subtle">
        <CopyButton text={code} what={label} />
      </span>
    </div>
  );
}
