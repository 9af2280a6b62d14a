/** Tools that a model's provider runs itself. */
export const providerToolTypes = ["web_search", "code_execution"] as const;
export type ProviderToolType = (typeof providerToolTypes)[number];

export interface ProviderTool {
  type: ProviderToolType;
  /** Most uses in one model call. */
  max_uses: number;
  /** The only domains that a search may show, or those that it may not. */
  allowed_domains?: string[];
  blocked_domains?: string[];
}

export const defaultUses = 5;

type Offer = (model: string) => number;

/** Tools of each provider, with the cost of one use in USD beside its tokens. */
const offers: Record<string, Partial<Record<ProviderToolType, Offer>>> = {
  anthropic: { web_search: () => 0.01, code_execution: () => 0 },
  openai: { web_search: () => 0.01, code_execution: () => 0.03 },
  google: { web_search: (model) => (chargesPrompts(model) ? 0.035 : 0.014), code_execution: () => 0 },
};

/** The second generation of Gemini charges a prompt that was searched for, the third each search. */
const chargesPrompts = (model: string): boolean => /gemini-2/.test(model);

/** Cost of so many uses of a tool. */
function usd(provider: string, model: string, type: ProviderToolType, uses: number): number {
  const charged = provider === "google" && chargesPrompts(model) ? Math.min(uses, 1) : uses;
  return charged * (offers[provider]?.[type]?.(model) ?? 0);
}

/** Returns the tools that a provider runs itself. */
export const toolsOfProvider = (provider: string): readonly ProviderToolType[] =>
  providerToolTypes.filter((type) => offers[provider]?.[type] !== undefined);

type DomainFilter = "allowed_domains" | "blocked_domains";

const domainFilters: Record<string, DomainFilter[]> = {
  anthropic: ["allowed_domains", "blocked_domains"],
  openai: ["allowed_domains"],
};

/** Returns the first filter of a tool that its provider does not have; null if it has all of them. */
export function unknownFilter(provider: string, tool: ProviderTool): DomainFilter | null {
  const filters = tool.type === "web_search" ? (domainFilters[provider] ?? []) : [];
  return (["allowed_domains", "blocked_domains"] as const).find((key) => tool[key] && !filters.includes(key)) ?? null;
}

/** Tools whose uses in one model call each provider can limit. OpenAI counts them together. */
const limited: Record<string, readonly ProviderToolType[]> = {
  anthropic: ["web_search"],
  openai: ["web_search", "code_execution"],
};

/** True if a provider keeps to the most uses of a tool in one model call. */
export const limitsUses = (provider: string, type: ProviderToolType): boolean =>
  limited[provider]?.includes(type) ?? false;

/** True if a provider runs the tool itself as the agent wants it. A search without its filter would show too much. */
export const runsTool = (provider: string, tool: ProviderTool): boolean =>
  toolsOfProvider(provider).includes(tool.type) && unknownFilter(provider, tool) === null;

/** True if a model takes its provider's tools and functions in one request. */
export const mixesTools = (provider: string, model: string): boolean =>
  provider !== "google" || !/gemini-[12]|gemma/.test(model);

/**
 * Highest cost of the provider's tools in one model call, in USD. OpenAI has one limit for all of them, so each use may
 * be one of the dearest.
 */
export function toolsWorstUsd(provider: string, model: string, tools: readonly ProviderTool[]): number {
  if (provider !== "openai")
    return tools.reduce((sum, { type, max_uses }) => sum + usd(provider, model, type, max_uses), 0);
  const uses = tools.reduce((sum, { max_uses }) => sum + max_uses, 0);
  return Math.max(0, ...tools.map(({ type }) => usd(provider, model, type, uses)));
}

interface Uses {
  web_searches?: number | undefined;
  code_executions?: number | undefined;
}

/** Cost of the uses that a model call had, in USD. */
export const usesUsd = (provider: string, model: string, { web_searches = 0, code_executions = 0 }: Uses) =>
  usd(provider, model, "web_search", web_searches) + usd(provider, model, "code_execution", code_executions);
