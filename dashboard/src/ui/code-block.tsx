import { CopyButton } from "./copy-button.tsx";

/** Code to read and copy. Long lines scroll within. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-subtle">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard too. */}
      <section aria-label={label} tabIndex={0} className="overflow-x-auto py-2.5 pr-10 pl-3">
        <pre>{code}</pre>
      </section>
      <span className="absolute top-1 right-1 rounded-sm bg-subtle">
        <CopyButton text={code} what={label} />
      </span>
    </div>
  );
}
