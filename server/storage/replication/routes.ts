import type { Database } from "bun:sqlite";
import type { SQL } from "bun";

/** A project as known to nodes that do not lead its cell. */
interface RoutedProject {
  id: string;
  name: string;
  /** True unless it is archived or deleted. */
  is_open: boolean;
  /** The cell that transferred it, if it was created in another one. */
  moved_from?: string;
}

/**
 * Names by which requests find the cell of their project: the hash of an API key in hexadecimal, its id (in client
 * tokens), the id of a chat page and the id of its agent. Null marks a deleted one.
 */
export interface RouteChanges {
  projects: Map<string, Omit<RoutedProject, "id"> | null>;
  names: Map<string, string | null>;
}

/** Part of a cell's database that other nodes must know. */
export interface Routes {
  /** Returns the changes committed since the last call, or null. Call it after each commit, in the same tick. */
  take(): RouteChanges | null;
  /** Returns all routes. */
  all(): RouteChanges;
  /** Returns the project of a name; null if it is unknown or belongs to another cell. */
  projectOf(name: string): string | null;
  has(project: string): boolean;
  /** Returns projects in transfer to other cells. Their routes stay unchanged until they have arrived. */
  leaving(): string[];
}

const movedFrom = (id: string): string =>
  `(SELECT cell FROM main.project_moves WHERE project = ${id} AND state = 'in' ORDER BY id DESC LIMIT 1) AS moved_from`;
const leavingCondition = (id: string): string =>
  `EXISTS (SELECT 1 FROM main.project_moves WHERE project = ${id} AND state = 'out')`;

const select = {
  projects: "SELECT id, name, archived_at_ms IS NULL AND deleted_at_ms IS NULL AS is_open FROM projects",
  names: `SELECT lower(hex(hash)) AS name, project_id AS project FROM api_keys WHERE revoked_at_ms IS NULL
    UNION ALL SELECT id, project_id FROM api_keys WHERE revoked_at_ms IS NULL
    UNION ALL SELECT id, project_id FROM chat_pages UNION ALL SELECT agent_id, project_id FROM chat_pages`,
};

/** A statement that changes projects or names, and the new values. */
type Watched = [event: string, table: string, changed: "changed_projects" | "changed_names", values: string[]];
const watchedTables: Watched[] = [
  ...["INSERT", "UPDATE OF name, archived_at_ms, deleted_at_ms"].map(
    (event) =>
      [
        event,
        "projects",
        "changed_projects",
        ["NEW.id, NEW.name, NEW.archived_at_ms IS NULL AND NEW.deleted_at_ms IS NULL"],
      ] as unknown as Watched,
  ),
  ["DELETE", "projects", "changed_projects", ["OLD.id, NULL, NULL"]],
  [
    ...(["INSERT", "api_keys", "changed_names"] as const),
    [
      "lower(hex(NEW.hash)), iif(NEW.revoked_at_ms IS NULL, NEW.project_id, NULL)",
      "NEW.id, iif(NEW.revoked_at_ms IS NULL, NEW.project_id, NULL)",
    ],
  ],
  [
    ...(["UPDATE OF revoked_at_ms", "api_keys", "changed_names"] as const),
    [
      "lower(hex(NEW.hash)), iif(NEW.revoked_at_ms IS NULL, NEW.project_id, NULL)",
      "NEW.id, iif(NEW.revoked_at_ms IS NULL, NEW.project_id, NULL)",
    ],
  ],
  ["DELETE", "api_keys", "changed_names", ["lower(hex(OLD.hash)), NULL", "OLD.id, NULL"]],
  ["INSERT", "chat_pages", "changed_names", ["NEW.id, NEW.project_id", "NEW.agent_id, NEW.project_id"]],
  ["UPDATE OF id", "chat_pages", "changed_names", ["OLD.id, NULL", "NEW.id, NEW.project_id"]],
  ["DELETE", "chat_pages", "changed_names", ["OLD.id, NULL", "OLD.agent_id, NULL"]],
];

const columns = { changed_projects: "id, name, is_open", changed_names: "name, project" };

/**
 * Watches the writing connection with temporary triggers, so that the database itself is the same as without a cluster.
 * A rollback discards the changes.
 */
export function watchRoutes(sqlite: Database): Routes {
  sqlite.run("CREATE TEMP TABLE changed_projects (id TEXT PRIMARY KEY, name TEXT, is_open INTEGER)");
  sqlite.run("CREATE TEMP TABLE changed_names (name TEXT PRIMARY KEY, project TEXT)");
  for (const [index, [event, table, changeTable, values]] of watchedTables.entries()) {
    const key = changeTable === "changed_projects" ? "id" : "name";
    // Deletes first, because the conflict clause of a statement also applies to its triggers.
    const statements = values.map(
      (row) =>
        `DELETE FROM ${changeTable} WHERE ${key} = ${row.split(/, (?![^(]*\))/)[0]}; INSERT INTO ${changeTable} (${columns[changeTable]}) VALUES (${row});`,
    );
    // A leaving project is deleted here, but its requests must wait until it has arrived.
    const condition =
      event === "DELETE" ? `WHEN NOT ${leavingCondition(table === "projects" ? "OLD.id" : "OLD.project_id")}` : "";
    sqlite.run(
      `CREATE TEMP TRIGGER route_${index} AFTER ${event} ON main.${table} ${condition} BEGIN ${statements.join(" ")} END`,
    );
  }
  const selectAnyChange = sqlite.query("SELECT 1 FROM changed_names UNION ALL SELECT 1 FROM changed_projects LIMIT 1");
  const selectChanges = {
    projects: sqlite.query<ProjectRow, []>(
      `SELECT id, name, is_open, ${movedFrom("changed_projects.id")} FROM changed_projects`,
    ),
    names: sqlite.query<NameRow, []>("SELECT name, project FROM changed_names"),
  };
  const selectLeaving = sqlite.query<{ project: string }, []>("SELECT project FROM project_moves WHERE state = 'out'");
  const selectProject = sqlite.query<{ id: string }, [string]>("SELECT id FROM projects WHERE id = ?");
  const byHash = sqlite.query<{ id: string }, [Uint8Array]>("SELECT project_id AS id FROM api_keys WHERE hash = ?");
  const byId = sqlite.query<{ id: string }, [string]>(
    `SELECT project_id AS id FROM api_keys WHERE id = ?1
     UNION ALL SELECT project_id FROM chat_pages WHERE id = ?1 OR agent_id = ?1`,
  );
  return {
    take() {
      if (!selectAnyChange.get()) return null;
      const changes = toChanges(selectChanges.projects.all(), selectChanges.names.all());
      for (const table of ["changed_projects", "changed_names"]) sqlite.run(`DELETE FROM temp.${table}`);
      return changes;
    },
    all: () =>
      toChanges(sqlite.query<ProjectRow, []>(select.projects).all(), sqlite.query<NameRow, []>(select.names).all()),
    projectOf: (name) => (isHash(name) ? byHash.get(Buffer.from(name, "hex")) : byId.get(name))?.id ?? null,
    has: (project) => selectProject.get(project) !== null,
    leaving: () => selectLeaving.all().map(({ project }) => project),
  };
}

interface ProjectRow {
  id: string;
  name: string | null;
  is_open: 0 | 1 | null;
  moved_from?: string | null;
}

interface NameRow {
  name: string;
  project: string | null;
}

const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

const toChanges = (projects: ProjectRow[], names: NameRow[]): RouteChanges => ({
  projects: new Map(
    projects.map(({ id, name, is_open, moved_from }) => [
      id,
      name === null ? null : { name, is_open: is_open === 1, ...(moved_from && { moved_from }) },
    ]),
  ),
  names: new Map(names.map(({ name, project }) => [name, project])),
});

/** Merges both, as if they were one commit. */
export function joinedRoutes(older: RouteChanges | null, newer: RouteChanges | null): RouteChanges | null {
  if (!older || !newer) return older ?? newer;
  return {
    projects: new Map([...older.projects, ...newer.projects]),
    names: new Map([...older.names, ...newer.names]),
  };
}

/** Serializes changes for the statements below. */
export const routesText = ({ projects, names }: RouteChanges): string =>
  JSON.stringify({
    projects: [...projects].flatMap(([id, project]) => (project ? [{ id, ...project }] : [])),
    gone: [...projects].flatMap(([id, project]) => (project ? [] : [id])),
    names: [...names].flatMap(([name, project]) => (project ? [{ name, project }] : [])),
    lost: [...names].flatMap(([name, project]) => (project ? [] : [name])),
  });

/**
 * Returns the parts of a statement that writes routes (`text`, from `routesText`) for the cell selected by `mine`, or
 * nothing if that is empty. A project of another cell stays there, unless it was transferred from it.
 */
export const writingRoutes = (text: string): string => `
  gone AS (DELETE FROM runnel_projects p USING mine
    WHERE p.cell = mine.id AND p.id IN (SELECT jsonb_array_elements_text(${text}::text::jsonb -> 'gone'))),
  came AS (UPDATE runnel_projects p SET cell = mine.id, name = n.name, is_open = n.is_open
    FROM mine, jsonb_to_recordset(${text}::text::jsonb -> 'projects')
      AS n (id text, name text, is_open boolean, moved_from text)
    WHERE p.id = n.id AND p.cell = n.moved_from AND p.cell <> mine.id RETURNING p.id),
  kept AS (INSERT INTO runnel_projects (id, cell, name, is_open)
    SELECT n.id, mine.id, n.name, n.is_open
    FROM mine, jsonb_to_recordset(${text}::text::jsonb -> 'projects') AS n (id text, name text, is_open boolean)
    WHERE n.id NOT IN (SELECT id FROM came)
    ON CONFLICT (id) DO UPDATE SET cell = excluded.cell, name = excluded.name, is_open = excluded.is_open
    WHERE runnel_projects.cell = excluded.cell),
  lost AS (DELETE FROM runnel_routes r USING mine
    WHERE r.name IN (SELECT jsonb_array_elements_text(${text}::text::jsonb -> 'lost'))
      AND NOT EXISTS (SELECT 1 FROM runnel_projects p WHERE p.id = r.project AND p.cell <> mine.id)),
  found AS (INSERT INTO runnel_routes (name, project)
    SELECT n.name, n.project
    FROM mine, jsonb_to_recordset(${text}::text::jsonb -> 'names') AS n (name text, project text)
    ON CONFLICT (name) DO UPDATE SET project = excluded.project)`;

/**
 * Makes a cell's routes in Postgres equal to those in its database, which may be older than these tables; by the leader
 * of this epoch. Returns the projects of the database that belong to another cell. Throws if another node leads.
 */
export const reconcileRoutes = (
  sql: SQL,
  cell: string,
  epoch: number,
  all: RouteChanges,
  leaving: readonly string[] = [],
): Promise<string[]> =>
  sql.begin(async (transaction) => {
    const [leaderRow] =
      await transaction`SELECT id FROM runnel_cells WHERE id = ${cell} AND epoch = ${epoch} FOR UPDATE`;
    if (!leaderRow) throw new Error(`The cell "${cell}" is led by another node.`);
    const existingRows: { id: string; cell: string }[] = await transaction.unsafe(
      `SELECT id, cell FROM runnel_projects WHERE cell = $1
         OR id IN (SELECT jsonb_array_elements_text($2::text::jsonb))`,
      [cell, JSON.stringify([...all.projects.keys()])],
    );
    const otherCellIds = new Set(existingRows.filter((project) => project.cell !== cell).map(({ id }) => id));
    const projects: RouteChanges["projects"] = new Map([...all.projects].filter(([id]) => !otherCellIds.has(id)));
    const isGone = (id: string): boolean => !all.projects.has(id) && !leaving.includes(id);
    for (const { id } of existingRows) if (isGone(id)) projects.set(id, null);
    const names = new Map([...all.names].filter(([, project]) => project === null || !otherCellIds.has(project)));
    const existingRoutes: { name: string; project: string }[] =
      await transaction`SELECT r.name, r.project FROM runnel_routes r
      JOIN runnel_projects p ON p.id = r.project WHERE p.cell = ${cell}`;
    for (const { name, project } of existingRoutes)
      if (!names.has(name) && !leaving.includes(project)) names.set(name, null);
    const mine = "mine AS (SELECT id FROM runnel_cells WHERE id = $1)";
    await transaction.unsafe(`WITH ${mine}, ${writingRoutes("$2")} SELECT id FROM mine`, [
      cell,
      routesText({ projects, names }),
    ]);
    return [...otherCellIds];
  });
