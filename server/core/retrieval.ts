import type { PinnedStore } from "./agent-snapshot.ts";
import { byteLength } from "./byte-length.ts";
import { limits } from "./limits.ts";
import type { RetrievedPassage } from "./run-event.ts";

/** Of all passages of one retrieval, which stay in the prompt of every model call. */
const passagesMax_bytes = 128 * 1024;

/** What a run's stores are searched with: its input, or the beginning of a long one, without half a character at its end. */
export function retrievalQuery(input: string): string {
  const { read } = new TextEncoder().encodeInto(input, new Uint8Array(limits.search_query_bytes));
  return input.slice(0, read);
}

/** What several stores found, as one list: the best first, as many as they may give together, and as fit. */
export function mergedPassages(
  found: readonly (readonly RetrievedPassage[])[],
  stores: readonly Pick<PinnedStore, "top_k">[],
): RetrievedPassage[] {
  const most = stores.reduce((sum, { top_k }) => sum + top_k, 0);
  let room = passagesMax_bytes;
  return found
    .flat()
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .filter(({ text }) => {
      const bytes = byteLength(text);
      if (bytes > room) return false;
      room -= bytes;
      return true;
    });
}
