import { useState } from "react";
import { isNumber } from "../../../../server/lib/exact-numbers.ts";
import { formatBytes, formatCount } from "../../lib/format.ts";

const shortValue = 44;
const longString = 2000;
const openDepth = 3;
/** Longer lists are cut: rendering thousands of lines would block the page. */
const manyEntries = 100;

/**
 * A JSON value as a tree: short values in one line, expanded to depth three, long strings collapsed with their size.
 */
export function JsonView({ value }: { value: unknown }) {
  return (
    <div className="pl-3.5 font-mono text-xs wrap-anywhere">
      <Node value={value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const [all, setAll] = useState(false);
  const label = name === undefined ? null : <span className="text-code-key">{name}: </span>;
  if (!isBranch(value))
    return (
      <div className="py-px">
        {label}
        <Leaf value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const shown = all ? entries : entries.slice(0, manyEntries);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return (
    // Only its own summary counts: a collapsed value may be inside an expanded one.
    <details
      open={depth < openDepth}
      className="[&[open]>summary]:before:content-['▾'] [&[open]>summary>[data-folded]]:hidden"
    >
      <summary className="list-none rounded-sm py-px before:-ml-3.5 before:inline-block before:w-3.5 before:text-faint before:content-['▸']">
        {label}
        {open}
        <span data-folded className="text-faint">
          {" "}
          {entries.length} {entries.length === 1 ? "entry" : "entries"} {close}
        </span>
      </summary>
      <div className="ml-1 border-l border-line-soft pl-4">
        {shown.map(([key, child]) => (
          <Node key={key} name={Array.isArray(value) ? undefined : key} value={child} depth={depth + 1} />
        ))}
        {shown.length < entries.length && (
          <button type="button" className="text-accent underline underline-offset-2" onClick={() => setAll(true)}>
            Show {formatCount(entries.length - shown.length)} more
          </button>
        )}
      </div>
      <span>{close}</span>
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [open, setOpen] = useState(false);
  if (typeof value !== "string") return <Inline value={value} />;
  if (value.length <= longString || open)
    return <span className="whitespace-pre-wrap text-code-string">{JSON.stringify(value)}</span>;
  return (
    <span className="text-code-string">
      {JSON.stringify(value.slice(0, 200)).slice(0, -1)}…{" "}
      <button type="button" className="text-accent underline underline-offset-2" onClick={() => setOpen(true)}>
        Show all {formatBytes(new TextEncoder().encode(value).length)}
      </button>
    </span>
  );
}

function Inline({ value }: { value: unknown }) {
  if (isNumber(value)) return <span className="text-code-number">{JSON.stringify(value)}</span>;
  if (typeof value === "boolean" || value == null) return <span className="text-code-literal">{String(value)}</span>;
  if (typeof value === "string") return <span className="text-code-string">{JSON.stringify(value)}</span>;
  const parts = Object.entries(value).map(([key, child], index) => (
    <span key={key}>
      {index > 0 && ", "}
      {!Array.isArray(value) && <span className="text-code-key">{key}: </span>}
      <Inline value={child} />
    </span>
  ));
  return Array.isArray(value) ? (
    <span>[{parts}]</span>
  ) : (
    <span>
      {parts.length ? (
        <>
          {"{ "}
          {parts}
          {" }"}
        </>
      ) : (
        "{}"
      )}
    </span>
  );
}

/** True for an object or array that is too long for one line. */
function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isNumber(value) && JSON.stringify(value).length >= shortValue;
}
