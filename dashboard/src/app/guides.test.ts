import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { guideOf, guides } from "./guides.ts";
import { groups } from "./nav.tsx";

test("every page of the side bar has a guide, and every guide is a page of the documentation", () => {
  const pages = Object.values(groups).flatMap((group) => group.map(({ to }) => to as string));
  expect(pages.filter((page) => !(page in guides))).toEqual([]);
  const docs = join(import.meta.dir, "../../../server/docs");
  expect(Object.values(guides).filter((guide) => !existsSync(join(docs, `${guide}.md`)))).toEqual([]);
});

test("what lies below a page has its guide, and an unknown address that of the concepts", () => {
  expect(guideOf("/dashboard/webhooks/whk_1")).toBe("/docs/guides/webhooks");
  expect(guideOf("/runs")).toBe("/docs/guides/traces");
  expect(guideOf("/dashboard/nowhere")).toBe("/docs/start/concepts");
});
