import { expect, test } from "bun:test";
import { openDatabase } from "../db/open.ts";
import { createProjectStore } from "./store.ts";

const open = () => createProjectStore({ db: openDatabase(":memory:") });

test("the first start makes one project, and no later start another", async () => {
  const projects = open();
  expect(await projects.createDefault()).toMatchObject({ name: "default", settings: {}, archived_at_ms: null });
  expect(await projects.createDefault()).toBeNull();
  expect(projects.list().map(({ name }) => name)).toEqual(["default"]);
});

test("a project is found by id and by name, and its settings are kept", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  await projects.changeSettings(id, { reads_per_minute: 5 });
  expect(projects.byId(id)).toEqual(projects.byName("shop")!);
  expect(projects.byId(id).settings).toEqual({ reads_per_minute: 5 });
  expect(projects.byName("none")).toBeNull();
  expect(() => projects.byId("proj_none")).toThrow();
});

test("how long something is kept is said field by field, and per environment", async () => {
  const projects = open();
  const { id } = await projects.create("shop");
  await projects.changeSettings(id, { reads_per_minute: 5 });
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

test("a name is given once and has no odd characters", async () => {
  const projects = open();
  await projects.create("shop");
  expect(projects.create("shop")).rejects.toThrow("already");
  for (const name of ["", "a b", "ä", "x".repeat(65), "../etc"]) expect(() => projects.create(name)).toThrow("name");
});
