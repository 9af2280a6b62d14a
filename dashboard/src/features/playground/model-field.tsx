import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { modelSuggestions } from "../../entities/model/model-suggestions.tsx";
import { useWorkspace } from "../../lib/workspace.ts";
import { Combobox } from "../../ui/forms/combobox.tsx";

/** Model picker: available models, or any other by name. */
export function ModelField({
  label = "Model",
  hint,
  value,
  error,
  disabled,
  onModel,
}: {
  label?: string;
  hint?: string;
  value: string;
  error?: string | null;
  disabled?: boolean;
  onModel: (model: string) => void;
}) {
  const { data: models } = useQuery(modelsQuery(useWorkspace()));
  const reachable = models?.data.filter(({ available }) => available) ?? [];
  const items = [
    ...reachable.filter(({ provider }) => provider !== "test"),
    ...reachable.filter(({ provider }) => provider === "test"),
  ];
  return (
    <fieldset disabled={disabled} className="min-w-0">
      <Combobox
        label={label}
        hint={hint}
        value={value}
        error={error}
        items={modelSuggestions(items)}
        onValue={onModel}
      />
    </fieldset>
  );
}
