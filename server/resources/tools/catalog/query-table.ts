/// <reference path="../../../runtime/sandbox/python-modules.d.ts" />

import type { CatalogEntry } from "./catalog-entry.ts";
import source from "./query-table.py" with { type: "text" };

export const entry: CatalogEntry = {
  title: "SQL over files",
  description: "Queries SQLite databases and CSV files of the run by SQL, read-only and in the sandbox.",
  settings: {},
  tools: () => [
    {
      name: "query_table",
      type: "code",
      language: "python",
      source,
      timeout_ms: 30_000,
      memory_mb: 512,
      description:
        "Runs one SQL query (SQLite) over the files of the conversation: CSV and TSV files are tables, SQLite databases are schemas. Call it without sql first: it lists the tables and their columns.",
      parameters: {
        type: "object",
        properties: {
          sql: { type: "string", maxLength: 20_000, description: "One SELECT. Without it, the tables are listed." },
          limit: { type: "integer", minimum: 1, maximum: 1000, description: "How many rows at most. Default: 100." },
        },
        additionalProperties: false,
      },
    },
  ],
};
