import { useQuery } from "@tanstack/react-query";
import { serverQuery } from "../../entities/server/server-api.ts";

const ofConnections = ["openai/text-embedding-3-small", "openai/text-embedding-3-large", "ollama/nomic-embed-text"];

/** Models that make vectors of text: those in the executable, the default first, and some to begin with; any other can be typed. */
export function useEmbeddingModels() {
  const { data } = useQuery(serverQuery);
  const inside = data?.embedding_models ?? [];
  return { byDefault: inside[0] ?? "", items: [...inside, ...ofConnections].map((value) => ({ value })) };
}
