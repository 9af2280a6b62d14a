import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { serverQuery } from "../../entities/server/server-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";

const providerModels = ["openai/text-embedding-3-small", "openai/text-embedding-3-large", "ollama/nomic-embed-text"];

/**
 * Returns suggested embedding models: the built-in ones, the default first, then those that the servers of connections
 * list, then common models of providers.
 */
export function useEmbeddingModels() {
  const { data } = useQuery(serverQuery);
  const builtinModels = data?.embedding_models ?? [];
  const { data: listed } = useQuery(modelsQuery(useWorkspace(), { kind: "embedding" }));
  const listedModels = (listed?.data ?? []).map(({ id }) => id);
  return {
    byDefault: builtinModels[0] ?? "",
    items: [...new Set([...builtinModels, ...listedModels, ...providerModels])].map((value) => ({ value })),
  };
}
