import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { DayBudget, ProjectSettings, RetentionDays } from "../../domain/project-settings.ts";
import type { Environment } from "../../domain/scope.ts";
import { originFault } from "../../domain/web-origin.ts";
import { type Actor, itself, type StoreBase } from "../../storage/db/audit.ts";
import { projects } from "../../storage/db/schema.ts";
import type { ProjectChange } from "./schema.ts";

export type Project = typeof projects.$inferSelect;

type Change<T> = { [Field in keyof T]?: T[Field] | null };

export type ProjectStore = ReturnType<typeof createProjectStore>;

export function createProjectStore({ db, audit, now = Date.now }: StoreBase) {
  const { orm } = db;
  // Projects that are being deleted count as gone.
  const byId = orm
    .select()
    .from(projects)
    .where(and(eq(projects.id, sql.placeholder("id")), isNull(projects.deleted_at_ms)))
    .prepare();
  const byName = orm
    .select()
    .from(projects)
    .where(eq(projects.name, sql.placeholder("name")))
    .prepare();
  const all = orm.select().from(projects).where(isNull(projects.deleted_at_ms)).orderBy(projects.id).prepare();
  const selectDeleted = orm
    .select({ id: projects.id })
    .from(projects)
    .where(isNotNull(projects.deleted_at_ms))
    .orderBy(projects.id)
    .prepare();

  // The name stays reserved, because the project comes back if the other cell cannot take it.
  const selectOutgoing = db.sqlite.query<unknown, [string]>(
    "SELECT 1 FROM project_moves WHERE name = ? AND state = 'out'",
  );
  const selectAnyMove = db.sqlite.query("SELECT 1 FROM project_moves LIMIT 1");

  const row = orm
    .select()
    .from(projects)
    .where(eq(projects.id, sql.placeholder("id")))
    .prepare();
  const projectCache = db.kept.rows((id: string) => row.get({ id }) ?? null);

  const note = (action: string, { id, name }: Project, actor: Actor, details: object = {}): void =>
    audit.note({ actor, project_id: id }, `project.${action}`, id, { name, ...details });

  /** Changes an existing project and returns it. Call inside a write. */
  const set = (id: string, values: Partial<Project>): Project =>
    orm.update(projects).set(values).where(eq(projects.id, id)).returning().get();
  const find = (id: string): Project => byId.get({ id }) ?? throwNotFound();

  /** Throws if the name is not allowed or taken. Call inside a write. */
  function requireName(name: string): void {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name))
      throw new AppError("validation_failed", "A project's name has 1 to 64 letters, digits, - and _.", {
        param: "name",
      });
    // Otherwise deleting a project by id could hit another project that has this id as its name.
    if (isId("project", name))
      throw new AppError("validation_failed", "A project's name may not look like an id.", { param: "name" });
    if (byName.get({ name }) || selectOutgoing.get(name))
      throw new AppError("name_taken", `There is already a project "${name}".`, { param: "name" });
  }

  const create = (name: string, actor = itself): Promise<Project> =>
    db.write(() => {
      requireName(name);
      const row = { id: newId("project", now()), name, settings: {}, created_at_ms: now() };
      const project = orm.insert(projects).values(row).returning().get();
      note("created", project, actor);
      return project;
    });

  /** Changes a project's name or settings. Absent fields stay; null restores the default. */
  const update = (id: string, { name, ...change }: ProjectChange, actor = itself): Promise<Project> =>
    db.write(() => {
      const before = find(id);
      if (name !== undefined && name !== before.name) requireName(name);
      requireOrigins(change.origins ?? []);
      const settings = applyChange(before.settings, change);
      const after = { ...before, name: name ?? before.name, settings };
      if (Bun.deepEquals(after, before)) return before;
      note("updated", after, actor, { settings });
      return set(id, { name: after.name, settings });
    });

  return {
    create,
    update,
    list: (): Project[] => all.all(),
    byId: find,
    byName: (name: string): Project | null => byName.get({ name }) ?? null,
    /** Never throws, because runs of a project that is being deleted continue for a moment. */
    settingsOf: (id: string): ProjectSettings => projectCache.of(id)?.settings ?? {},
    /** True unless the project is archived or gone. */
    isOpen: (id: string): boolean => projectCache.of(id)?.archived_at_ms === null,
    /** Creates the first start's project; null if there is or was any project. */
    async createDefault(): Promise<Project | null> {
      return all.get() || selectAnyMove.get() ? null : await create("default");
    },
    /** Sets the retention of an environment. Absent fields stay; null: forever. */
    keep: (id: string, environment: Environment, change: Change<RetentionDays>, actor = itself): Promise<Project> =>
      update(id, { retention: { [environment]: change } }, actor),

    /** Archives a project: its keys are refused and its runs cancelled. A repeated call is a no-op. */
    archive: (id: string, actor: Actor): Promise<Project> =>
      db.write(() => {
        const before = find(id);
        if (before.archived_at_ms !== null) return before;
        note("archived", before, actor);
        return set(id, { archived_at_ms: now() });
      }),

    /** Unarchives a project; its keys work again. */
    unarchive: (id: string, actor: Actor): Promise<Project> =>
      db.write(() => {
        const before = find(id);
        if (before.archived_at_ms === null) return before;
        note("unarchived", before, actor);
        return set(id, { archived_at_ms: null });
      }),

    /** Marks the project as deleted and frees its name; its data are erased afterwards. */
    remove: (id: string, actor: Actor): Promise<Project> =>
      db.write(() => {
        const project = find(id);
        // Server-wide entry, because the project's own entries are erased with it.
        audit.note({ actor }, "project.deleted", id, { name: project.name });
        // A name that no project can be given.
        set(id, { name: `deleted ${id}`, archived_at_ms: project.archived_at_ms ?? now(), deleted_at_ms: now() });
        return project;
      }),

    /** Projects that are still to be erased. */
    deleted: (): string[] => selectDeleted.all().map(({ id }) => id),
  };
}

function requireOrigins(origins: readonly string[]): void {
  for (const [index, origin] of origins.entries()) {
    const message = originFault(origin);
    if (message) throw new AppError("validation_failed", message, { param: `origins[${index}]` });
  }
}

function applyChange(
  before: ProjectSettings,
  { limits, retention, budget_per_day, unknown_price, origins }: Omit<ProjectChange, "name">,
): ProjectSettings {
  const settings: ProjectSettings = { ...merged<ProjectSettings>(before, limits ?? {}) };
  if (retention) {
    const retentionDays = { ...before.retention };
    for (const [environment, change] of Object.entries(retention))
      retentionDays[environment as Environment] = merged<RetentionDays>(
        retentionDays[environment as Environment] ?? {},
        change,
      );
    settings.retention = retentionDays;
  }
  if (budget_per_day) settings.budget_per_day = merged<DayBudget>(before.budget_per_day ?? {}, budget_per_day);
  if (unknown_price) settings.unknown_price = unknown_price;
  if (origins) settings.origins = origins;
  if (origins?.length === 0) delete settings.origins;
  return settings;
}

/** Null removes a field; absent and undefined ones stay. */
function merged<T extends object>(fields: T, change: Change<T>): T {
  const changedEntries = Object.entries(change).filter(([, value]) => value !== undefined);
  const all = Object.entries({ ...fields, ...Object.fromEntries(changedEntries) });
  return Object.fromEntries(all.filter(([, value]) => value !== null)) as T;
}
