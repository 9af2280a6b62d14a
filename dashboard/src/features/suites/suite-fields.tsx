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
        hint="CI refers to the suite by its name. Short and without spaces is best."
        maxLength={limits.name_length}
        autoComplete="off"
        {...text("name")}
      />
      <Field
        label="Description"
        hint="What its runs cover."
        maxLength={1000}
        autoComplete="off"
        {...text("description")}
      />
    </>
  );
}
