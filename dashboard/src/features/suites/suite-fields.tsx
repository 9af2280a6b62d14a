import { faultOf } from "../../lib/fault-of.ts";
import { Field } from "../../ui/field.tsx";

/** What a suite is called, and what it is for. */
interface SuiteDraft {
  name: string;
  description: string;
}

/** The fields for both. */
export function SuiteFields({
  draft,
  error,
  onChange,
}: {
  draft: SuiteDraft;
  error: Error | null;
  onChange: (part: Partial<SuiteDraft>) => void;
}) {
  return (
    <>
      <Field
        label="Name"
        hint="Builds call it by its name: short and without blanks is best."
        value={draft.name}
        maxLength={128}
        autoComplete="off"
        error={faultOf(error, "name")}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <Field
        label="Description"
        hint="What its runs show, for whoever finds one that diverged."
        value={draft.description}
        maxLength={1000}
        autoComplete="off"
        onChange={(event) => onChange({ description: event.target.value })}
      />
    </>
  );
}
