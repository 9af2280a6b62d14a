import { expect, test } from "bun:test";
import { createProjectStore } from "../../resources/projects/store.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { findProject, requireProject } from "./find-project.ts";

test("an id finds its own project, even if an older project has it as its name", async () => {
  const db = openDatabase(":memory:");
  const projects = createProjectStore({ db, audit: createAudit({ db }) });
  const [one, two] = [await projects.create("one"), await projects.create("two")];
  db.sqlite.query("UPDATE projects SET name = ? WHERE id = ?").run(two.id, one.id);
  expect([findProject(projects, two.id)?.id, requireProject(projects, "two").id]).toEqual([two.id, two.id]);
  expect(findProject(projects, "one")).toBeNull();
  expect(() => requireProject(projects, "one")).toThrow('no project "one"');
  db.close();
});
