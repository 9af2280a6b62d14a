import { Field } from "../../ui/field.tsx";
import type { ToolFormProps } from "./types/tool-part.ts";

/** How long a call may take; `standard` holds where nothing is typed. */
export function TimeoutField({ text, standard }: Pick<ToolFormProps, "text"> & { standard: number }) {
  return <Field label="Timeout, ms" inputMode="numeric" placeholder={String(standard)} {...text("timeout_ms")} />;
}
