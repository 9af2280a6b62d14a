import { useState } from "react";
import { downloadText } from "../../lib/download.ts";
import { formatBytes } from "../../lib/format.ts";

const shownAtFirst = 4000;
/** Longer texts are shown by their two ends. */
const longest = 256_000;
const endLength = 20_000;

/** A text of any length: a long one is folded with its size, a huge one shows its ends and can be downloaded. */
export function LongText({ text, name, mono = false }: { text: string; name: string; mono?: boolean }) {
  const [open, setOpen] = useState(false);
  const look = mono ? "font-mono text-xs" : "text-md max-w-(--read)";
  const size = formatBytes(new TextEncoder().encode(text).length);
  if (text.length <= shownAtFirst || (open && text.length <= longest))
    return <p className={`${look} wrap-anywhere whitespace-pre-wrap`}>{text}</p>;
  return (
    <div className={`${look} wrap-anywhere whitespace-pre-wrap`}>
      {text.slice(0, open ? endLength : shownAtFirst / 2)}…{" "}
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
