import { labelPattern } from "../../../../server/domain/agent-label.ts";
import { readPeriod } from "../../entities/analytics/period.ts";
import { type NamedSearch, omitUndefined, readChoice, readForm, readNamedSearch } from "../../lib/page-search.ts";
import { type AgentSearch, agentTabs } from "./agent-search.ts";

/** Reads the query parameters of the list. */
export const readAgentsSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "agt");

/** Reads the query parameters of an agent's page. */
export const readAgentSearch = (search: Record<string, unknown>): AgentSearch =>
  omitUndefined({
    tab: readChoice(search.tab, agentTabs),
    version: readVersion(search.version),
    against: readVersion(search.against),
    label: readForm(search.label, new RegExp(labelPattern)),
    ...readPeriod(search),
  });

const readVersion = (value: unknown): number | undefined =>
  Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined;
