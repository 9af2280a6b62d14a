import { expect, test } from "bun:test";
import type { Project } from "../lib/workspace.ts";
import { findProjects } from "./find-projects.ts";

test("projects are found by words of their names, prefix matches first", () => {
  const projects = ["support-desk", "desk_north", "web-shop"].map((name) => ({ id: name, name }) as Project);
  const found = (text: string) => findProjects(projects, text).map(({ name }) => name);
  expect(found("")).toEqual(["support-desk", "desk_north", "web-shop"]);
  expect(found("desk")).toEqual(["desk_north", "support-desk"]);
  expect(found(" DESK north")).toEqual(["desk_north"]);
  expect(found("nothing")).toEqual([]);
});
