import { type TriggerOutcome, triggerOutcomes } from "../../../../server/domain/api-types/enums.ts";
import {
  type NamedSearch,
  omitUndefined,
  type PageSearch,
  readChoice,
  readNamedSearch,
  readPageSearch,
} from "../../lib/page-search.ts";

/** Search parameters of a trigger's deliveries. */
export interface TriggerSearch extends PageSearch {
  outcome?: TriggerOutcome;
}

/** Parses the search parameters of the list. */
export const readTriggersSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "trg");

/** Parses the search parameters of a trigger's deliveries. */
export const readTriggerSearch = (search: Record<string, unknown>): TriggerSearch =>
  omitUndefined({ outcome: readChoice(search.outcome, triggerOutcomes), ...readPageSearch(search, "tdl") });
