import type { Recipe } from "./recipe.ts";

export const resourceWithRoutes: Recipe = {
  title: "Add a resource with routes",
  placeholders: {
    "migrations/0052_notes.sql": "migrations/<number>_<name>.sql",
    "server/resources/notes/schema.ts": "server/resources/<name>/schema.ts",
    "server/resources/notes/store.ts": "server/resources/<name>/store.ts",
    "server/resources/notes/routes.ts": "server/resources/<name>/routes.ts",
  },
  changes: {
    "migrations/0052_notes.sql": `CREATE TABLE notes (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id),
  environment TEXT NOT NULL,
  text TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_by_scope ON notes (project_id, environment, id);
`,
    "server/storage/db/schema.ts": [
      [
        'export const fileBlobs = sqliteTable("file_blobs", {\n',
        `export const notes = sqliteTable("notes", {
  ...own,
  text: text().notNull(),
  metadata: json<Record<string, string>>().notNull(),
  ...times,
});

export const fileBlobs = sqliteTable("file_blobs", {
`,
      ],
    ],
    "server/domain/ids.ts": [['  secret: "sec",\n', '  secret: "sec",\n  note: "note",\n']],
    "server/resources/notes/schema.ts": `import { type Static, Type } from "@sinclair/typebox";
import { UpdatedAt } from "../../domain/api-types/fields.ts";
import { resource } from "../../domain/api-types/schema.ts";
import { Metadata } from "../../http/schemas.ts";
import * as t from "../../lib/schema.ts";

export const CreateNote = t.partly({ text: t.about("The text.", Type.String({ maxLength: 4096 })) }, { metadata: Metadata });
export type CreateNote = Static<typeof CreateNote>;

export const Note = resource("Note", "note", { text: t.about("The text.", t.text), updated_at: UpdatedAt });
export type Note = Static<typeof Note>;
`,
    "server/resources/notes/store.ts": `import { changeable } from "../../domain/api-types/schema.ts";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { Db } from "../../storage/db/open.ts";
import { notes } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { CreateNote, Note } from "./schema.ts";

export type NoteStore = ReturnType<typeof createNoteStore>;

/** Notes of a project. */
export function createNoteStore({ db, now }: { db: Db; now: () => number }) {
  const rows = createScopedTable(db, notes);
  return {
    get: (scope: Scope, id: string) => toNote(rows.find(scope, id)),
    list: (scope: Scope, page: Page) => listPage(db, { table: notes, kind: "note", scope, page }, toNote),
    create: (scope: Scope, { text, metadata = {} }: CreateNote) =>
      db.write(() => {
        const at = now();
        const times = { created_at_ms: at, updated_at_ms: at };
        return toNote(rows.insert(scope, { id: newId("note", at), text, metadata, ...times }));
      }),
  };
}

const toNote = (row: typeof notes.$inferSelect): Note => ({
  id: row.id,
  object: "note",
  text: row.text,
  ...changeable(row),
});
`,
    "server/resources/notes/routes.ts": `import { Elysia } from "elysia";
import { listOf } from "../../domain/api-types/schema.ts";
import type { Auth } from "../../http/auth.ts";
import { listQuery, readPage } from "../../http/page.ts";
import { pathOf } from "../../http/schemas.ts";
import { CreateNote, Note } from "./schema.ts";
import type { NoteStore } from "./store.ts";

/** \`/v1/notes\`. */
export const noteRoutes = ({ auth, notes }: { auth: Auth; notes: NoteStore }) =>
  new Elysia({ prefix: "/notes", tags: ["Notes"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await notes.create(principal, body)), {
      operation: { id: "notes.create", summary: "Create a note", needs: "run", creates: Note },
      body: CreateNote,
    })
    .get("/", ({ principal, request }) => notes.list(principal, readPage(request.url)), {
      operation: { id: "notes.list", summary: "List notes", needs: "read", query: listQuery, returns: listOf(Note) },
    })
    .get("/:id", ({ principal, params }) => notes.get(principal, params.id), {
      operation: { id: "notes.retrieve", summary: "Retrieve a note", needs: "read", returns: Note },
      params: pathOf("note"),
    });
`,
    "server/testing/tenancy-kinds.ts": [
      [
        "  webhook: {\n    make",
        `  note: {
    make: async (client) => [idOf(await client.post("/v1/notes", { text: "Buy milk." }))],
    never: () => newId("note"),
    malformed: misshapen,
  },
  webhook: {
    make`,
      ],
    ],
    "server/testing/tenancy-places.ts": [
      ['  "webhooks :id": "webhook",\n', '  "notes :id": "note",\n  "webhooks :id": "webhook",\n'],
      ['  "/v1/webhooks": "webhook",\n', '  "/v1/notes": "note",\n  "/v1/webhooks": "webhook",\n'],
    ],
    "server/http/openapi.ts": [['  Runs: "A run', '  Notes: "A note is a text of a project.",\n  Runs: "A run']],
    "server/app.ts": [
      [
        '/module.ts";\nimport { createProjectsModule',
        `/module.ts";
import { noteRoutes } from "./resources/notes/routes.ts";
import { createNoteStore } from "./resources/notes/store.ts";
import { createProjectsModule`,
      ],
      [
        "  const search = createSearchModule(",
        "  const notes = createNoteStore(base);\n  const search = createSearchModule(",
      ],
      [
        "    triggers,\n    suites,\n    traces,\n    keys,\n",
        "    triggers,\n    suites,\n    traces,\n    { routes: (auth: Auth) => [noteRoutes({ auth, notes })] },\n    keys,\n",
      ],
      ["import { createHttpModule", 'import type { Auth } from "./http/auth.ts";\nimport { createHttpModule'],
    ],
  },
};
