import { limits } from "../../../../server/core/limits.ts";
import type { Fields } from "../../lib/use-form.ts";
import { Field } from "../../ui/field.tsx";

/** What a suite is called, and what it is for. */
interface SuiteDraft {
  name: string;
  description: string;
}

/** The fields for both. */
export function SuiteFields({ text }: Pick<Fields<SuiteDraft>, "text">) {
  return (
    <>
      <Field
        label="Name"
        hint="Builds call it by its name: short and without blanks is best."
        maxLength={limits.name_length}
        autoComplete="off"
        {...text("name")}
      />
      <Field
        label="Description"
        hint="What its runs show, for whoever finds one that diverged."
        maxLength={1000}
        autoComplete="off"
        {...text("description")}
      />
    </>
  );
}
