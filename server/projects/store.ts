import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";

export interface Project {
  id: string;
  name: string;
  /** Limits that differ from the defaults, such as `reads_per_minute` or `runs_in_progress`. */
  settings: Record<string, number>;
  created_at_ms: number;
  archived_at_ms: number | null;
}

interface Row extends Omit<Project, "settings"> {
  settings: string;
}

export type ProjectStore = ReturnType<typeof createProjectStore>;

export function createProjectStore({ db, now = Date.now }: { db: Db; now?: () => number }) {
  const byId = db.sqlite.query<Row, [string]>("SELECT * FROM projects WHERE id = ?");
  const byName = db.sqlite.query<Row, [string]>("SELECT * FROM projects WHERE name = ?");
  const insert = db.sqlite.query("INSERT INTO projects (id, name, settings, created_at_ms) VALUES (?, ?, '{}', ?)");
  const all = db.sqlite.query<Row, []>("SELECT * FROM projects ORDER BY id");

  function create(name: string): Promise<Project> {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name))
      throw new AppError("validation_failed", "A project's name has 1 to 64 letters, digits, - and _.", {
        param: "name",
      });
    return db.write(() => {
      if (byName.get(name))
        throw new AppError("name_taken", `There is already a project "${name}".`, { param: "name" });
      const id = newId("project", now());
      insert.run(id, name, now());
      return toProject(byId.get(id)!);
    });
  }

  return {
    create,
    list: (): Project[] => all.all().map(toProject),
    byId(id: string): Project {
      const row = byId.get(id);
      if (!row) throw notFound();
      return toProject(row);
    },
    byName(name: string): Project | null {
      const row = byName.get(name);
      return row ? toProject(row) : null;
    },
    /** What the first start makes; null when there are projects already. */
    async createDefault(): Promise<Project | null> {
      return all.get() ? null : await create("default");
    },
    /** Replaces what differs from the default limits. */
    changeSettings: (id: string, settings: Record<string, number>): Promise<void> =>
      db.write(() => {
        db.sqlite.query("UPDATE projects SET settings = ? WHERE id = ?").run(JSON.stringify(settings), id);
      }),
  };
}

const toProject = (row: Row): Project => ({ ...row, settings: JSON.parse(row.settings) });
