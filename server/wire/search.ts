import type { Static } from "@sinclair/typebox";
import { runStatuses } from "../core/run-state.ts";
import * as t from "../lib/schema.ts";
import { searchTypes } from "./names.ts";

/** Something that has the words that were searched for. */
export const SearchResult = t.named(
  "SearchResult",
  t.object({
    object: t.word("search_result"),
    type: t.oneOf(searchTypes),
    id: t.text,
    title: t.text,
    snippet: t.optional(t.text),
    agent_id: t.optional(t.text),
    status: t.optional(t.oneOf(runStatuses)),
    created_at: t.time,
  }),
);
export type SearchResult = Static<typeof SearchResult>;
