import { type ReactNode, useId, useState } from "react";
import { readPreference, writePreference } from "../../lib/local-storage.ts";
import { SegmentedControl } from "./segmented-control.tsx";

const views = [
  { value: "fields", label: "Fields" },
  { value: "json", label: "JSON" },
] as const;

/**
 * A value edited as fields or as JSON; both write the same text. `fields` is null if they cannot represent the value:
 * then only JSON is available, with the reason.
 */
export function FormOrJson({
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
  // The last choice is the default of the next field; open ones do not change.
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
          <SegmentedControl
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
