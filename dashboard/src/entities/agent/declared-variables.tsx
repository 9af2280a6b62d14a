import type { Variable, VariableType } from "../../../../server/domain/variable.ts";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";

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
  return variables.map((variable) => {
    const { name } = variable;
    const value = Object.hasOwn(texts, name) ? (texts[name] ?? "") : "";
    const choices = choicesOf(variable);
    const common = { label: name, hint: hintOf(variable), value };
    // A value that was typed before the variable had choices stays visible.
    if (choices && (value === "" || choices.some((choice) => choice.value === value)))
      return <Select key={name} {...common} choices={choices} onChoose={(text) => onText(name, text)} />;
    return (
      <Field
        key={name}
        {...common}
        placeholder={variable.default === undefined ? undefined : String(variable.default)}
        autoComplete="off"
        onChange={({ target }) => onText(name, target.value)}
      />
    );
  });
}

/** Returns the values to choose from, after that of a run that gives none; null for free text. */
function choicesOf({ type, default: preset, required, enum: values }: Variable) {
  const texts = values ?? (type === "boolean" ? ["true", "false"] : null);
  if (texts === null) return null;
  const none = preset !== undefined ? `Default: ${preset}` : required ? "Choose a value" : "No value";
  return [{ value: "", label: none }, ...texts.map((text) => ({ value: text, label: text }))];
}

const typeWords: Record<VariableType, string> = {
  string: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "True or false",
};

/** Says which value a variable takes. */
function hintOf({ type, description, default: preset, required, enum: choices }: Variable): string {
  const kind = choices ? "One of these" : typeWords[type];
  const need = required && preset === undefined ? ", required" : "";
  return [description, `${kind}${need}.`].filter(Boolean).join(" ");
}
