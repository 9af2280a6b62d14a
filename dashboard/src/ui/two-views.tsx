import { type ReactNode, useId, useState } from "react";
import { readPreference, writePreference } from "../lib/preference.ts";
import { ChoiceBar } from "./choice-bar.tsx";

const views = [
  { value: "fields", label: "Fields" },
  { value: "json", label: "JSON" },
] as const;

/**
 * A value that is edited as fields or as JSON: both write the same text. `fields` is null where fields cannot show what is
 * written; then it is JSON, and the reason is said.
 */
export function TwoViews({
  label,
  fields,
  json,
  reason = "This text can only be edited as JSON.",
}: {
  label: string;
  fields: ReactNode | null;
  json: ReactNode;
  reason?: string;
}) {
  const name = useId();
  // The next one begins as the last was left; those that are open stay as they are.
  const [view, setView] = useState(() => (readPreference("edit-as") === "json" ? "json" : "fields"));
  const choose = (next: "fields" | "json") => {
    setView(next);
    writePreference("edit-as", next);
  };
  const isJson = view === "json" || fields === null;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <div className="max-w-60">
          <ChoiceBar
            name={name}
            label={`${label} as`}
            choices={views}
            chosen={isJson ? "json" : "fields"}
            readOnly={fields === null}
            onChoose={choose}
          />
        </div>
        {fields === null && <p className="text-xs text-muted">{reason}</p>}
      </div>
      {isJson ? json : fields}
    </div>
  );
}
