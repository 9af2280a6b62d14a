interface Embedded {
  embedding: { model: string } | null;
  indexing: { model: string } | null;
}

/** What a store is asked to embed with: what was typed, or as long as nobody typed, what it has or is on the way to. */
export function embeddingDraft(typed: string | null, { embedding, indexing }: Embedded) {
  const held = indexing?.model ?? embedding?.model ?? "";
  const shown = typed ?? held;
  const model = shown.trim();
  return { shown, model, isChanged: model !== "" && model !== held };
}
