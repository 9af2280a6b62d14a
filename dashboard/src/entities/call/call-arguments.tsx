import { isJsonObject } from "../../lib/json-text.ts";
import { JsonView } from "../../ui/json-view.tsx";

/** What was asked, as a list: it is read, not parsed. */
export function CallArguments({ value }: { value: unknown }) {
  const entries = isJsonObject(value) ? Object.entries(value) : [["Arguments", value] as const];
  if (entries.length === 0) return <p className="text-muted">It has no arguments.</p>;
  return (
    <dl aria-label="Arguments" className="max-h-80 overflow-y-auto rounded-md border border-line bg-subtle px-3 py-1.5">
      {entries.map(([key, each]) => (
        <div key={key} className="flex min-w-0 flex-wrap gap-x-3 py-1">
          <dt className="shrink-0 text-xs leading-(--leading-sm) text-muted">{key}</dt>
          <dd className="min-w-0 flex-1 font-medium wrap-anywhere">
            {typeof each === "string" ? each : isPlain(each) ? String(each) : <JsonView value={each} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const isPlain = (value: unknown): boolean => typeof value === "number" || typeof value === "boolean" || value === null;
