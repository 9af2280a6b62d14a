import { expect, test } from "bun:test";
import { createAudit } from "../../storage/db/audit.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { createProjectStore } from "./store.ts";

function open() {
  const db = openDatabase(":memory:");
  return createProjectStore({ db, audit: createAudit({ db }) });
}

test("the first start creates one project, and later starts none", async () => {
  const projects = open();
  expect(await projects.createDefault()).toMatchObject({ name: "default", settings: {}, archived_at_ms: null });
  expect(await projects.createDefault()).toBeNull();
  expect(projects.list().map(({ name }) => name)).toEqual(["default"]);
});

test("a project is found by id and by name, and its settings are stored", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  await projects.update(id, { limits: { reads_per_minute: 5 } });
  expect(projects.byId(id)).toEqual(projects.byName("shop")!);
  expect(projects.byId(id).settings).toEqual({ reads_per_minute: 5 });
  expect(projects.byName("none")).toBeNull();
  expect(() => projects.byId("proj_none")).toThrow();
});

test("retention is set field by field, and per environment", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  await projects.update(id, { limits: { reads_per_minute: 5 } });
  await projects.keep(id, "live", { runs_days: 30 });
  await projects.keep(id, "live", { runs_days: undefined, traces_days: 7 });
  await projects.keep(id, "test", { traces_days: 1 });
  const kept = {
    reads_per_minute: 5,
    retention: { live: { runs_days: 30, traces_days: 7 }, test: { traces_days: 1 } },
  };
  expect(projects.byId(id).settings).toEqual(kept);
  await projects.keep(id, "live", { runs_days: null });
  expect(projects.byId(id).settings.retention?.live).toEqual({ traces_days: 7 });
  expect(projects.keep("proj_none", "live", {})).rejects.toThrow();
});

test("a name is unique and has no unusual characters", async () => {
  const projects = open();
  await projects.create("shop");
  expect(projects.create("shop")).rejects.toThrow("already");
  for (const name of ["", "a b", "ä", "x".repeat(65), "../etc"]) expect(() => projects.create(name)).toThrow("name");
});

const actor = { type: "user" as const, id: "usr_1", ip: null, request_id: null };

test("a project is renamed and its limits are set field by field; null restores the default", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  await projects.update(id, { name: "store", limits: { reads_per_minute: 5, runs_in_progress: 0 } }, actor);
  await projects.update(id, { limits: { reads_per_minute: null }, retention: { live: { runs_days: 9 } } }, actor);
  expect(projects.byId(id)).toMatchObject({
    name: "store",
    settings: { runs_in_progress: 0, retention: { live: { runs_days: 9 } } },
  });
  expect(projects.byId(id).settings).not.toHaveProperty("reads_per_minute");
  await projects.create("shop");
  await expect(projects.update(id, { name: "shop" }, actor)).rejects.toMatchObject({ code: "name_taken" });
  await expect(projects.update(id, { name: "a b" }, actor)).rejects.toMatchObject({ param: "name" });
  expect(await projects.update(id, { name: "store" }, actor)).toMatchObject({ name: "store" });
});

test("a daily budget is set number by number, and null removes it", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  await projects.update(id, { budget_per_day: { max_cost_usd: 2.5, max_total_tokens: 1000 } }, actor);
  await projects.update(id, { limits: { reads_per_minute: 5 } }, actor);
  await projects.update(id, { budget_per_day: { max_total_tokens: null }, unknown_price: "allow" }, actor);
  expect(projects.settingsOf(id)).toEqual({
    reads_per_minute: 5,
    budget_per_day: { max_cost_usd: 2.5 },
    unknown_price: "allow",
  });
});

test("a project is archived and restored, and repeating either changes nothing", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  const first = await projects.archive(id, actor);
  expect(first.archived_at_ms).toBeNumber();
  expect(await projects.archive(id, actor)).toEqual(first);
  expect(projects.isOpen(id)).toBe(false);
  expect((await projects.unarchive(id, actor)).archived_at_ms).toBeNull();
  expect(projects.isOpen(id)).toBe(true);
});

test("a deleted project is neither found nor listed, and its name is free", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  await projects.update(id, { limits: { runs_in_progress: 3 } });
  await projects.remove(id, actor);
  // Its runs continue until they are cancelled, and read the project's settings.
  expect([projects.settingsOf(id), projects.settingsOf("proj_none")]).toEqual([{ runs_in_progress: 3 }, {}]);
  expect([projects.list(), projects.byName("shop"), projects.deleted()]).toEqual([[], null, [id]]);
  for (const change of [projects.archive, projects.unarchive, projects.remove])
    await expect(change(id, actor)).rejects.toMatchObject({ code: "resource_not_found" });
  expect((await projects.create("shop")).id).not.toBe(id);
});

test("a project's name cannot look like a project id", async () => {
  const projects = open();
  const [one, two] = [await projects.create("one"), await projects.create("two")];
  await expect(projects.update(one.id, { name: two.id }, actor)).rejects.toMatchObject({ param: "name" });
  expect(() => projects.create(two.id)).toThrow("id");
});
