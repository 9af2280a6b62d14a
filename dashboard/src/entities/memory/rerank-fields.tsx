import { useQuery } from "@tanstack/react-query";
import type { RerankType } from "../../../../server/domain/agent-snapshot.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { modelsQuery } from "../model/model-api.ts";
import { modelSuggestions } from "../model/model-suggestions.tsx";

interface RerankFieldsProps {
  type: RerankType | null;
  model: string;
  error?: string | null;
  onType: (type: RerankType | null) => void;
  onModel: (model: string) => void;
}

/** Fields for the reranker of a search. */
export function RerankFields({ type, model, error, onType, onModel }: RerankFieldsProps) {
  const models = useQuery({ ...modelsQuery(useWorkspace()), enabled: type === "chat" });
  const known = type === "chat" ? (models.data?.data ?? []).filter(({ available }) => available) : [];
  return (
    <>
      <div className="w-40">
        <Select
          label="Rerank"
          value={type ?? ""}
          choices={[
            { value: "", label: "None" },
            { value: "cross_encoder", label: "Reranking model" },
            { value: "chat", label: "Chat model" },
          ]}
          onChoose={(chosen) => onType(chosen || null)}
        />
      </div>
      {type && (
        <div className="w-70">
          <Combobox
            label="Reranking model"
            placeholder={type === "chat" ? "<provider>/<model>" : "openai_compatible/<connection>/<model>"}
            items={modelSuggestions(known)}
            value={model}
            error={error}
            onValue={onModel}
          />
        </div>
      )}
    </>
  );
}
