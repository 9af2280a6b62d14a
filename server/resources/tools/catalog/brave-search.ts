import { apiKey, type CatalogEntry, refusedKey } from "./catalog-entry.ts";

/** https://api-dashboard.search.brave.com/documentation: one result page has at most 20 results. */
export const entry: CatalogEntry = {
  title: "Web search: Brave",
  description: "Searches the web with Brave Search.",
  settings: { api_key: apiKey("A subscription token of the Brave Search API.") },
  tools: ({ api_key = "" }) => [
    {
      name: "web_search",
      type: "http",
      description: "Searches the web. Returns titles, addresses and excerpts of pages.",
      url: "https://api.search.brave.com/res/v1/web/search?q={query}&text_decorations=false&result_filter=web",
      method: "GET",
      headers: { "X-Subscription-Token": api_key },
      parameters: {
        type: "object",
        properties: {
          query: { type: "string", minLength: 1, maxLength: 400, description: "The words to search for." },
          count: { type: "integer", minimum: 1, maximum: 20, description: "How many results. Default: 20." },
          freshness: { enum: ["pd", "pw", "pm", "py"], description: "Only pages of the last day, week, month, year." },
        },
        required: ["query"],
        additionalProperties: false,
      },
      output_fields: ["web.results.title", "web.results.url", "web.results.description", "web.results.age"],
      failures: [
        { status: 401, hint: refusedKey },
        { status: 403, hint: refusedKey },
        { field: "error.code", equals: "SUBSCRIPTION_TOKEN_INVALID", hint: refusedKey },
        { status: 429, hint: "The plan of the API key allows no more searches at the moment." },
      ],
      retries: 2,
    },
  ],
};
