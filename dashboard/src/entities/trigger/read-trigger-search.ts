import { type TriggerOutcome, triggerOutcomes } from "../../../../server/domain/api-types/enums.ts";
import { type NamedSearch, readNamedSearch } from "../../lib/page-search.ts";
import { type OutcomeSearch, readOutcomeSearch } from "../automation/outcome-search.ts";

/** Search parameters of a trigger's deliveries. */
export type TriggerSearch = OutcomeSearch<TriggerOutcome>;

/** Parses the search parameters of the list. */
export const readTriggersSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "trg");

/** Parses the search parameters of a trigger's deliveries. */
export const readTriggerSearch = (search: Record<string, unknown>): TriggerSearch =>
  readOutcomeSearch(search, triggerOutcomes, "tdl");
