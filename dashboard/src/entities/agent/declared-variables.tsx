import type { Variable, VariableType } from "../../../../server/domain/variable.ts";
import { Field } from "../../ui/forms/field.tsx";

/** A field for each variable of an agent. */
export function DeclaredVariables({
  variables,
  texts,
  onText,
}: {
  variables: readonly Variable[];
  /** Typed values by name. */
  texts: Readonly<Record<string, string>>;
  onText: (name: string, text: string) => void;
}) {
  return variables.map((variable) => (
    <Field
      key={variable.name}
      label={variable.name}
      hint={hintOf(variable)}
      placeholder={variable.default === undefined ? undefined : String(variable.default)}
      autoComplete="off"
      value={Object.hasOwn(texts, variable.name) ? texts[variable.name] : ""}
      onChange={({ target }) => onText(variable.name, target.value)}
    />
  ));
}

const typeWords: Record<VariableType, string> = {
  string: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "true or false",
};

/** Says which value a variable takes. */
function hintOf({ type, description, default: preset, required, enum: choices }: Variable): string {
  const kind = choices ? `One of ${choices.join(", ")}` : typeWords[type];
  const need = required && preset === undefined ? ", required" : "";
  return [description, `${kind}${need}.`].filter(Boolean).join(" ");
}
