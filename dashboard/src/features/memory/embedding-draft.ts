interface StoreModels {
  embedding: { model: string } | null;
  indexing: { model: string } | null;
}

/** Returns the embedding model of the form: the typed one, or else the one that the store is reindexed with or has. */
export function embeddingDraft(typed: string | null, { embedding, indexing }: StoreModels) {
  const currentModel = indexing?.model ?? embedding?.model ?? "";
  const shown = typed ?? currentModel;
  const model = shown.trim();
  return { shown, model, isChanged: model !== "" && model !== currentModel };
}
