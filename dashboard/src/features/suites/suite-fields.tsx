import { limits } from "../../../../server/domain/limits.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { Field } from "../../ui/forms/field.tsx";

/** Name and description of a suite. */
interface SuiteDraft {
  name: string;
  description: string;
}

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
