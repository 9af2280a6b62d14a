import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { runStatuses } from "../run-state.ts";
import { searchTypes } from "./enums.ts";
import { CreatedAt, objectOf } from "./fields.ts";

/** A resource that contains the words of a search. */
export const SearchResult = t.named(
  "SearchResult",
  t.object({
    object: objectOf("search_result"),
    type: t.about("What was found, such as a run or a thread.", t.oneOf(searchTypes)),
    id: t.about("The id of the run, thread, agent or other object that was found.", t.text),
    title: t.about("Its name; of a run, the beginning of its input.", t.text),
    snippet: t.about("The text around the words; absent if an id was searched for.", t.optional(t.text)),
    agent_id: t.about("The agent of a run.", t.optional(t.text)),
    status: t.about("The status of a run.", t.optional(t.oneOf(runStatuses))),
    created_at: CreatedAt,
  }),
);
export type SearchResult = Static<typeof SearchResult>;
