import { readPeriod } from "../../entities/analytics/period.ts";
import { given, type NamedSearch, readChoice, readNamedSearch } from "../../lib/page-search.ts";
import { type AgentSearch, agentTabs } from "./agent-search.ts";

/** Of the list's address. */
export const readAgentsSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "agt");

/** Of an agent's address. */
export const readAgentSearch = (search: Record<string, unknown>): AgentSearch =>
  given({
    tab: readChoice(search.tab, agentTabs),
    version: readVersion(search.version),
    against: readVersion(search.against),
    ...readPeriod(search),
  });

const readVersion = (value: unknown): number | undefined =>
  Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined;
