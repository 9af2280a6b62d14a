import { eq, sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { ProjectSettings, RetentionDays } from "../core/project-settings.ts";
import type { Environment } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { projects } from "../db/schema.ts";
import { notFound } from "../http/not-found.ts";

export type Project = typeof projects.$inferSelect;

type Change<T> = { [Field in keyof T]?: T[Field] | null };

export type ProjectStore = ReturnType<typeof createProjectStore>;

export function createProjectStore({ db, now = Date.now }: { db: Db; now?: () => number }) {
  const { orm } = db;
  const byId = orm
    .select()
    .from(projects)
    .where(eq(projects.id, sql.placeholder("id")))
    .prepare();
  const byName = orm
    .select()
    .from(projects)
    .where(eq(projects.name, sql.placeholder("name")))
    .prepare();
  const all = orm.select().from(projects).orderBy(projects.id).prepare();

  async function create(name: string): Promise<Project> {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name))
      throw new AppError("validation_failed", "A project's name has 1 to 64 letters, digits, - and _.", {
        param: "name",
      });
    return db.write(() => {
      if (byName.get({ name }))
        throw new AppError("name_taken", `There is already a project "${name}".`, { param: "name" });
      const row = { id: newId("project", now()), name, settings: {}, created_at_ms: now() };
      return orm.insert(projects).values(row).returning().get();
    });
  }

  return {
    create,
    list: (): Project[] => all.all(),
    byId(id: string): Project {
      return byId.get({ id }) ?? missing();
    },
    byName: (name: string): Project | null => byName.get({ name }) ?? null,
    /** What the first start makes; null when there are projects already. */
    async createDefault(): Promise<Project | null> {
      return all.get() ? null : await create("default");
    },
    /** Replaces what differs from the default limits. */
    async changeSettings(id: string, settings: ProjectSettings): Promise<void> {
      await db.write(() => orm.update(projects).set({ settings }).where(eq(projects.id, id)).run());
    },
    /** Says how long an environment keeps what is over; fields that are not named stay as they are, null is for ever. */
    keep(id: string, environment: Environment, change: Change<RetentionDays>): Promise<Project> {
      return db.write(() => {
        const { settings } = byId.get({ id }) ?? missing();
        const days = merged(settings.retention?.[environment] ?? {}, change);
        const changed = { ...settings, retention: { ...settings.retention, [environment]: days } };
        return orm.update(projects).set({ settings: changed }).where(eq(projects.id, id)).returning().get();
      });
    },
  };
}

function missing(): never {
  throw notFound();
}

function merged(days: RetentionDays, change: Change<RetentionDays>): RetentionDays {
  const named = Object.entries(change).filter(([, value]) => value !== undefined);
  const all = Object.entries({ ...days, ...Object.fromEntries(named) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
