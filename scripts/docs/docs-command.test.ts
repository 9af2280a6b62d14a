import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pageFor } from "../../server/cli/docs.ts";
import { inProject } from "../root.ts";
import { buildDocs } from "./build-docs.ts";

let dist = "";
let folder = "";
beforeAll(async () => {
  dist = mkdtempSync(join(tmpdir(), "runnel-docs-"));
  await buildDocs(dist);
  folder = join(dist, "docs");
}, 60_000);
afterAll(() => rmSync(dist, { recursive: true, force: true }));

const written = (path: string): string => readFileSync(inProject("server/docs", path), "utf8");

describe("runnel docs", () => {
  test("without a topic lists the pages", () => {
    const list = pageFor(folder, undefined);
    expect(list).toStartWith("# runnel\n");
    expect(list).toContain("[Streaming](/docs/guides/streaming.md): ");
  });

  test.each([
    ["the end of its name", "streaming"],
    ["its whole name", "guides/streaming"],
    ["its file", "guides/streaming.md"],
    ["an address", "guides/streaming/"],
  ])("prints a page by %s", (_, topic) => {
    expect(pageFor(folder, topic)).toBe(written("guides/streaming.md"));
  });

  test("prints the first page of a folder by the folder's name", () => {
    expect(pageFor(folder, "reference/errors")).toStartWith("# Errors\n");
    expect(pageFor(folder, "licenses")).toStartWith("# Licenses\n");
  });

  test("says so where no page has the name, and which ones where several have it", () => {
    expect(() => pageFor(folder, "weather")).toThrow('There is no page "weather". `runnel docs` lists them.');
    mkdirSync(join(folder, "explain"), { recursive: true });
    writeFileSync(join(folder, "explain/streaming.md"), "# Streaming, explained\n");
    const several = () => pageFor(folder, "streaming");
    expect(several).toThrow(/Several pages are called so: (explain|guides)\/streaming, (explain|guides)\/streaming\.$/);
    rmSync(join(folder, "explain/streaming.md"));
    expect(() => pageFor(folder, "../../../etc/passwd")).toThrow("There is no page");
  });
});
