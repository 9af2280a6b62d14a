import { expect, test } from "bun:test";
import { guideOf, guides } from "./guides.ts";
import { groups } from "./nav.tsx";

test("every page of the side bar has a guide", () => {
  const pages = Object.values(groups).flatMap((group) => group.map(({ to }) => to as string));
  expect(pages.filter((page) => !(page in guides))).toEqual([]);
});

test("what lies below a page has its guide, and an unknown address that of the concepts", () => {
  expect(guideOf("/dashboard/webhooks/whk_1")).toBe("/docs/guides/webhooks");
  expect(guideOf("/runs")).toBe("/docs/guides/traces");
  expect(guideOf("/dashboard/agents/agt_1")).toBe("/docs/guides/agents");
  expect(guideOf("/dashboard/nowhere")).toBe("/docs/start/concepts");
});
