import { expect, test } from "bun:test";
import { createAudit } from "../db/audit.ts";
import { openDatabase } from "../db/open.ts";
import { createProjectStore } from "../projects/store.ts";
import { findProject, requireProject } from "./find-project.ts";

test("an id is its own project's, also where an older project has it for a name", async () => {
  const db = openDatabase(":memory:");
  const projects = createProjectStore({ db, audit: createAudit({ db }) });
  const [one, two] = [await projects.create("one"), await projects.create("two")];
  db.sqlite.query("UPDATE projects SET name = ? WHERE id = ?").run(two.id, one.id);
  expect([findProject(projects, two.id)?.id, requireProject(projects, "two").id]).toEqual([two.id, two.id]);
  expect(findProject(projects, "one")).toBeNull();
  expect(() => requireProject(projects, "one")).toThrow('no project "one"');
  db.close();
});
