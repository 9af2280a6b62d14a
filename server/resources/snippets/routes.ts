import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Snippet, SnippetVersion } from "../../domain/api-types/snippet.ts";
import { AppError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Auth } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { forwardQuery, listQuery, readPage } from "../../http/page.ts";
import { idOf, pathOf, pathWith } from "../../http/schemas.ts";
import { about } from "../../lib/schema.ts";
import { CreateSnippet, snippetFilters, UpdateSnippet } from "./schema.ts";
import type { SnippetStore } from "./store.ts";

const params = pathOf("snippet");
const versionPattern = "^[1-9]\\d{0,14}$";
const versionNumber = Type.String({ pattern: versionPattern });
const versionParams = pathWith({
  id: about("The id.", idOf("snippet")),
  version: about("The number of the version.", versionNumber),
});

export const snippetRoutes = ({ auth, snippets }: { auth: Auth; snippets: SnippetStore }) =>
  new Elysia({ prefix: "/snippets", tags: ["Snippets"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await snippets.create(principal, body)), {
      operation: {
        id: "snippets.create",
        summary: "Create a snippet",
        needs: "admin",
        creates: Snippet,
        errors: ["name_taken"],
      },
      body: CreateSnippet,
    })
    .get("/", ({ principal, request }) => snippets.list(principal, readPage(request.url, snippetFilters)), {
      operation: {
        id: "snippets.list",
        summary: "List snippets",
        needs: "read",
        query: { ...listQuery, ...snippetFilters },
        returns: listOf(Snippet),
      },
    })
    .get("/:id", ({ principal, params }) => snippets.get(principal, params.id), {
      operation: { id: "snippets.retrieve", summary: "Retrieve a snippet", needs: "read", returns: Snippet },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => snippets.update(principal, params.id, body), {
      operation: {
        id: "snippets.update",
        summary: "Change a snippet; another text is a new version",
        needs: "admin",
        returns: Snippet,
        errors: ["version_conflict"],
      },
      params,
      body: UpdateSnippet,
    })
    .delete("/:id", ({ principal, params }) => snippets.remove(principal, params.id), {
      operation: {
        id: "snippets.delete",
        summary: "Delete a snippet that no agent uses",
        needs: "admin",
        returns: Deleted,
        errors: ["snippet_in_use"],
      },
      params,
    })
    .get(
      "/:id/versions",
      ({ principal, params, request }) => listVersions(snippets, principal, params.id, request.url),
      {
        operation: {
          id: "snippets.versions.list",
          summary: "List the versions of a snippet, newest first",
          needs: "read",
          query: {
            limit: forwardQuery.limit,
            starting_after: about("A cursor: returns the items after it.", versionNumber),
          },
          returns: listOf(SnippetVersion),
        },
        params,
      },
    )
    .get(
      "/:id/versions/:version",
      ({ principal, params }) => snippets.version(principal, params.id, Number(params.version)),
      {
        operation: {
          id: "snippets.versions.retrieve",
          summary: "Retrieve a version of a snippet",
          needs: "read",
          returns: SnippetVersion,
        },
        params: versionParams,
      },
    );

function listVersions(snippets: SnippetStore, scope: Scope, id: string, url: string) {
  const { version } = snippets.get(scope, id);
  const { limit, starting_after } = readPage(url);
  if (starting_after === null) return snippets.versions(scope, id, limit, Number.MAX_SAFE_INTEGER);
  if (!new RegExp(versionPattern).test(starting_after))
    throw invalid("starting_after", "Must be the number of a version.");
  const before = Number(starting_after);
  if (before > version) throw new AppError("invalid_cursor", "The cursor is not a version of this snippet.");
  return snippets.versions(scope, id, limit, before);
}
