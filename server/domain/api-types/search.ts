import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { runStatuses } from "../run-state.ts";
import { searchTypes } from "./enums.ts";

/** A resource that contains the words of a search. */
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
