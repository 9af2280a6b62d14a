import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type SearchType, searchTypes } from "../../domain/api-types/enums.ts";
import { listOf } from "../../domain/api-types/schema.ts";
import { SearchResult } from "../../domain/api-types/search.ts";
import type { Auth } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { forwardQuery, readPage } from "../../http/page.ts";
import { about } from "../../lib/schema.ts";
import type { createSearch } from "./store.ts";

const word = `(${searchTypes.join("|")})`;
const parameters = {
  q: about(
    'Words that must all match; the last may be a prefix, and "words in quotes" match as a phrase. Or an id, or the beginning of one.',
    Type.String({ minLength: 1, maxLength: 500 }),
  ),
  types: Type.String({
    pattern: `^${word}(,${word})*$`,
    description: `Of which types, with commas between them: ${searchTypes.join(", ")}. All by default.`,
  }),
};

/** `GET /v1/search`: full-text search over a project. */
export const searchRoutes = ({ auth, search }: { auth: Auth; search: ReturnType<typeof createSearch> }) =>
  new Elysia({ tags: ["Search and analytics"] }).use(auth).get(
    "/search",
    ({ principal, request }) => {
      const { limit, starting_after, filters } = readPage(request.url, parameters);
      const { q, types } = filters;
      if (q === undefined) throw invalid("q", "Say what to search for.");
      const of = types ? (types.split(",") as SearchType[]) : null;
      return search(principal, { q, types: of, limit, starting_after, signal: request.signal });
    },
    {
      operation: {
        id: "search.list",
        summary: "Search runs, threads, agents, tools, memory stores, files and webhooks",
        needs: "read",
        query: { ...parameters, ...forwardQuery },
        returns: listOf(SearchResult),
      },
    },
  );
