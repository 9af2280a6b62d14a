import type { Fields } from "../../hooks/use-form.ts";
import { Field } from "../../ui/forms/field.tsx";
import type { CommonDraft } from "./types/tool-part.ts";

/** Timeout of a call; `standard` is the default. */
export function TimeoutField({ text, standard }: Pick<Fields<CommonDraft>, "text"> & { standard: number }) {
  return <Field label="Timeout, ms" inputMode="numeric" placeholder={String(standard)} {...text("timeout_ms")} />;
}
