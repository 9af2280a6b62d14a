import { type ReactNode, useState } from "react";
import { downloadText } from "../../lib/download.ts";
import { formatBytes } from "../../lib/format.ts";
import { CopyButton } from "./copy-button.tsx";
import { JsonView } from "./json-view.tsx";

/** A JSON value with a title: strings as text, other values as a tree. */
export function Value({ title, name, value }: { title: string; name: string; value: unknown }) {
  const copy = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return (
    <Block title={title} copy={copy}>
      <div className="rounded-md border border-line bg-subtle px-3 py-2">
        {typeof value === "string" ? <LongText text={value} name={name} mono /> : <JsonView value={value} />}
      </div>
    </Block>
  );
}

/** A titled block of the details with a copy button. */
export function Block({
  title,
  copy,
  aside,
  children,
}: {
  title: string;
  copy?: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="flex min-h-7 items-center justify-between gap-2">
        <h3 className="text-xs font-medium text-muted">{title}</h3>
        <span className="flex items-center gap-1 text-xs text-muted">
          {aside}
          {copy && <CopyButton text={copy} what={title.toLowerCase()} />}
        </span>
      </div>
      {children}
    </section>
  );
}

const collapsedLength = 4000;
/** Longer texts show only both ends. */
const longest = 256_000;
const endLength = 20_000;

/** A text of any length: a long one is collapsed with its size, a huge one shows both ends and a download. */
export function LongText({ text, name, mono = false }: { text: string; name: string; mono?: boolean }) {
  const [open, setOpen] = useState(false);
  const look = mono ? "font-mono text-xs" : "text-md max-w-(--read)";
  const size = formatBytes(new TextEncoder().encode(text).length);
  if (text.length <= collapsedLength || (open && text.length <= longest))
    return <p className={`${look} wrap-anywhere whitespace-pre-wrap`}>{text}</p>;
  return (
    <div className={`${look} wrap-anywhere whitespace-pre-wrap`}>
      {text.slice(0, open ? endLength : collapsedLength / 2)}…{" "}
      {!open && <FoldButton onClick={() => setOpen(true)}>Show all {size}</FoldButton>}
      {open && (
        <>
          <FoldButton onClick={() => downloadText(text, `${name}.txt`, "text/plain")}>Download all {size}</FoldButton>
          {`\n…${text.slice(-endLength)}`}
        </>
      )}
    </div>
  );
}

/** A text that shows its first characters until it is unfolded, so that what follows stays in sight. */
export function FoldedText({ text, most }: { text: string; most: number }) {
  const [isOpen, setOpen] = useState(false);
  const isFolded = text.length > most && !isOpen;
  return (
    <p className="wrap-anywhere whitespace-pre-wrap">
      {isFolded ? `${text.slice(0, most).toWellFormed()}… ` : text}
      {isFolded && <FoldButton onClick={() => setOpen(true)}>Show all</FoldButton>}
    </p>
  );
}

function FoldButton({ onClick, children }: { onClick: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      className="font-sans text-sm whitespace-nowrap text-accent underline underline-offset-2"
      onClick={onClick}
    >
      {children}
    </button>
  );
}
