import type { Fields } from "../../lib/use-form.ts";
import { Field } from "../../ui/field.tsx";
import type { CommonDraft } from "./types/tool-part.ts";

/** How long a call may take; `standard` holds where nothing is typed. */
export function TimeoutField({ text, standard }: Pick<Fields<CommonDraft>, "text"> & { standard: number }) {
  return <Field label="Timeout, ms" inputMode="numeric" placeholder={String(standard)} {...text("timeout_ms")} />;
}
