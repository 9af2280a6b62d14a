import { apiKey, type CatalogEntry, refusedKey } from "./catalog-entry.ts";

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
export const entry: CatalogEntry = {
  title: "Web search: Tavily",
  description: "Searches the web with Tavily, which returns longer excerpts of each page.",
  settings: { api_key: apiKey("A key of the Tavily API.") },
  tools: ({ api_key = "" }) => [
    {
      name: "web_search",
      type: "http",
      description: "Searches the web. Returns titles, addresses and excerpts of pages.",
      url: "https://api.tavily.com/search",
      method: "POST",
      headers: { Authorization: `Bearer ${api_key}` },
      parameters: {
        type: "object",
        properties: {
          query: { type: "string", minLength: 1, maxLength: 400, description: "The words to search for." },
          max_results: { type: "integer", minimum: 1, maximum: 20, description: "How many results. Default: 5." },
          topic: { enum: ["general", "news", "finance"], description: "Default: general." },
          time_range: { enum: ["day", "week", "month", "year"], description: "Only pages of this time until now." },
        },
        required: ["query"],
        additionalProperties: false,
      },
      output_fields: ["results.title", "results.url", "results.content", "results.published_date"],
      failures: [
        { status: 401, hint: refusedKey },
        { status: 432, hint: "The plan of the API key is used up. Its owner can change the plan." },
        { status: 433, hint: "The pay-as-you-go limit of the API key is reached. Its owner can raise it." },
      ],
      // A search has no effects, so it may be repeated although it is a POST.
      idempotent: true,
      retries: 2,
    },
  ],
};
