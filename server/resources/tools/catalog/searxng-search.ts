import type { CatalogEntry } from "./catalog-entry.ts";

/** https://docs.searxng.org/dev/search_api.html: the server must allow the format `json` in its settings. */
export const entry: CatalogEntry = {
  title: "Web search: SearXNG",
  description: "Searches the web with your own SearXNG server, without a key.",
  settings: {
    url: {
      title: "Address",
      description: "The address of the server, such as https://search.example.com. Its settings must allow JSON.",
      required: true,
    },
  },
  tools: ({ url = "" }) => [
    {
      name: "web_search",
      type: "http",
      description: "Searches the web. Returns titles, addresses and excerpts of pages.",
      url: `${url.replace(/\/+$/, "")}/search?q={query}&format=json`,
      method: "GET",
      parameters: {
        type: "object",
        properties: {
          query: { type: "string", minLength: 1, maxLength: 400, description: "The words to search for." },
          pageno: { type: "integer", minimum: 1, maximum: 20, description: "The page of results. Default: 1." },
          time_range: { enum: ["day", "month", "year"], description: "Only pages of this time until now." },
          language: { type: "string", maxLength: 10, description: "The language of the pages, such as en or de." },
        },
        required: ["query"],
        additionalProperties: false,
      },
      output_fields: ["results.title", "results.url", "results.content", "results.publishedDate"],
      failures: [
        {
          status: 403,
          hint: "A SearXNG server refuses searches by programs unless its settings.yml has `json` under `search.formats`.",
        },
        { status: 429, hint: "The server's limiter refuses searches by programs. Its operator can let this one pass." },
      ],
      max_output_bytes: 32_768,
      retries: 2,
    },
  ],
};
