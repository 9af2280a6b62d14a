import { Field } from "../../ui/field.tsx";
import type { ToolFormProps } from "./types/tool-part.ts";

/** How long a call may take; `standard` holds where nothing is typed. */
export function TimeoutField({ draft, faults, onChange, standard }: ToolFormProps & { standard: number }) {
  return (
    <Field
      label="Timeout, ms"
      inputMode="numeric"
      placeholder={String(standard)}
      value={draft.timeout_ms}
      error={faults.timeout_ms}
      onChange={(event) => onChange({ timeout_ms: event.target.value })}
    />
  );
}
