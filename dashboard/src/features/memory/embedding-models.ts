import { useQuery } from "@tanstack/react-query";
import { serverQuery } from "../../entities/server/server-api.ts";

const providerModels = ["openai/text-embedding-3-small", "openai/text-embedding-3-large", "ollama/nomic-embed-text"];

/** Returns suggested embedding models: the built-in ones, the default first, then common models of providers. */
export function useEmbeddingModels() {
  const { data } = useQuery(serverQuery);
  const builtinModels = data?.embedding_models ?? [];
  return {
    byDefault: builtinModels[0] ?? "",
    items: [...builtinModels, ...providerModels].map((value) => ({ value })),
  };
}
