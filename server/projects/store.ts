import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { isId, newId } from "../core/ids.ts";
import { missing } from "../core/not-found.ts";
import type { DayBudget, ProjectSettings, RetentionDays } from "../core/project-settings.ts";
import type { Environment } from "../core/scope.ts";
import { originFault } from "../core/web-origin.ts";
import { type Actor, itself, type StoreBase } from "../db/audit.ts";
import { projects } from "../db/schema.ts";
import type { ProjectChange } from "./schema.ts";

export type Project = typeof projects.$inferSelect;

type Change<T> = { [Field in keyof T]?: T[Field] | null };

export type ProjectStore = ReturnType<typeof createProjectStore>;

export function createProjectStore({ db, audit, now = Date.now }: StoreBase) {
  const { orm } = db;
  // One that is being deleted is not there any more.
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
  const gone = orm
    .select({ id: projects.id })
    .from(projects)
    .where(isNotNull(projects.deleted_at_ms))
    .orderBy(projects.id)
    .prepare();

  // It may come back: the other cell cannot take it.
  const leaving = db.sqlite.query<unknown, [string]>("SELECT 1 FROM project_moves WHERE name = ? AND state = 'out'");
  const moved = db.sqlite.query("SELECT 1 FROM project_moves LIMIT 1");

  const row = orm
    .select()
    .from(projects)
    .where(eq(projects.id, sql.placeholder("id")))
    .prepare();
  const kept = db.kept.rows((id: string) => row.get({ id }) ?? null);

  const note = (done: string, { id, name }: Project, actor: Actor, details: object = {}): void =>
    audit.note({ actor, project_id: id }, `project.${done}`, id, { name, ...details });

  /** Within a write: changes a project that is there, and returns what it has become. */
  const set = (id: string, values: Partial<Project>): Project =>
    orm.update(projects).set(values).where(eq(projects.id, id)).returning().get();
  const find = (id: string): Project => byId.get({ id }) ?? missing();

  /** Within a write. */
  function requireName(name: string): void {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name))
      throw new AppError("validation_failed", "A project's name has 1 to 64 letters, digits, - and _.", {
        param: "name",
      });
    // Whoever deletes a project by its id may not hit another one that took the id for its name.
    if (isId("project", name))
      throw new AppError("validation_failed", "A project's name may not look like an id.", { param: "name" });
    if (byName.get({ name }) || leaving.get(name))
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

  /** Gives a project another name or other settings: what is not named stays, and null is the default. */
  const update = (id: string, { name, ...change }: ProjectChange, actor = itself): Promise<Project> =>
    db.write(() => {
      const before = find(id);
      if (name !== undefined && name !== before.name) requireName(name);
      requireOrigins(change.origins ?? []);
      const settings = changed(before.settings, change);
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
    /** Never throws: runs of a project that is being deleted go on for a moment. */
    settingsOf: (id: string): ProjectSettings => kept.of(id)?.settings ?? {},
    /** Whether anybody may work with it: not while it is archived, nor after. */
    isOpen: (id: string): boolean => kept.of(id)?.archived_at_ms === null,
    /** What the first start makes; null when there are projects already, or were. */
    async createDefault(): Promise<Project | null> {
      return all.get() || moved.get() ? null : await create("default");
    },
    /** Says how long an environment keeps what is over; fields that are not named stay as they are, null is for ever. */
    keep: (id: string, environment: Environment, change: Change<RetentionDays>, actor = itself): Promise<Project> =>
      update(id, { retention: { [environment]: change } }, actor),

    /** Puts a project away: its keys are refused from now on, and what it runs is cancelled. Again: nothing. */
    archive: (id: string, actor: Actor): Promise<Project> =>
      db.write(() => {
        const before = find(id);
        if (before.archived_at_ms !== null) return before;
        note("archived", before, actor);
        return set(id, { archived_at_ms: now() });
      }),

    /** Takes an archived project back into use, with the keys that it had. */
    unarchive: (id: string, actor: Actor): Promise<Project> =>
      db.write(() => {
        const before = find(id);
        if (before.archived_at_ms === null) return before;
        note("unarchived", before, actor);
        return set(id, { archived_at_ms: null });
      }),

    /** From now on the project is not there, and its name is free; what belongs to it is erased afterwards. */
    remove: (id: string, actor: Actor): Promise<Project> =>
      db.write(() => {
        const project = find(id);
        // Not among the project's own entries, which go with it.
        audit.note({ actor }, "project.deleted", id, { name: project.name });
        // No project can be given such a name.
        set(id, { name: `deleted ${id}`, archived_at_ms: project.archived_at_ms ?? now(), deleted_at_ms: now() });
        return project;
      }),

    /** Those that are still to be erased. */
    deleted: (): string[] => gone.all().map(({ id }) => id),
  };
}

function requireOrigins(origins: readonly string[]): void {
  for (const [index, origin] of origins.entries()) {
    const message = originFault(origin);
    if (message) throw new AppError("validation_failed", message, { param: `origins[${index}]` });
  }
}

function changed(
  before: ProjectSettings,
  { limits, retention, budget_per_day, unknown_price, origins }: Omit<ProjectChange, "name">,
): ProjectSettings {
  const settings: ProjectSettings = { ...merged<ProjectSettings>(before, limits ?? {}) };
  if (retention) {
    const kept = { ...before.retention };
    for (const [environment, change] of Object.entries(retention))
      kept[environment as Environment] = merged<RetentionDays>(kept[environment as Environment] ?? {}, change);
    settings.retention = kept;
  }
  if (budget_per_day) settings.budget_per_day = merged<DayBudget>(before.budget_per_day ?? {}, budget_per_day);
  if (unknown_price) settings.unknown_price = unknown_price;
  if (origins) settings.origins = origins;
  if (origins?.length === 0) delete settings.origins;
  return settings;
}

/** Null takes a field away; one that is not named, or undefined, stays. */
function merged<T extends object>(fields: T, change: Change<T>): T {
  const named = Object.entries(change).filter(([, value]) => value !== undefined);
  const all = Object.entries({ ...fields, ...Object.fromEntries(named) });
  return Object.fromEntries(all.filter(([, value]) => value !== null)) as T;
}
