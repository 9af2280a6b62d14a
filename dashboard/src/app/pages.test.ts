import { expect, test } from "bun:test";
import { groups, guideOf } from "./pages.ts";

test("every page of the side bar has a guide", () => {
  const pages = Object.values(groups).flatMap((group) => group.map(({ to, guide }) => ({ to, guide })));
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.map(({ to }) => guideOf(to))).toEqual(pages.map(({ guide }) => `/docs/${guide}`));
});

test("a nested page has the guide of its parent, and an unknown address the concepts guide", () => {
  expect(guideOf("/dashboard/webhooks/whk_1")).toBe("/docs/guides/webhooks");
  expect(guideOf("/runs")).toBe("/docs/guides/traces");
  expect(guideOf("/dashboard/agents/agt_1")).toBe("/docs/guides/agents");
  expect(guideOf("/dashboard/nowhere")).toBe("/docs/start/concepts");
});
