import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inProject } from "../root.ts";
import { readSources } from "../sources.ts";
import { licensesText, type Notices, readNotices } from "./licenses.ts";

let notices: Notices;
beforeAll(async () => {
  notices = await readNotices();
});

const names = (which: "server" | "dashboard") => notices[which].map(({ name }) => name);

/** Returns the packages that the sources of a folder import more than types from. */
function importedBy(folder: string): string[] {
  const sources = Object.entries(readSources()).filter(
    ([path]) => path.startsWith(`${folder}/`) && !/\.test\.tsx?$|^server\/testing\//.test(path),
  );
  const found = sources.flatMap(([path, text]) =>
    new Bun.Transpiler({ loader: path.endsWith("x") ? "tsx" : "ts" }).scanImports(text).map(({ path: to }) => to),
  );
  const packages = found.filter((to) => !/^(\.|node:|bun(:|$))/.test(to));
  return [
    ...new Set(
      packages.map((to) =>
        to
          .split("/")
          .slice(0, to.startsWith("@") ? 2 : 1)
          .join("/"),
      ),
    ),
  ].sort();
}

describe("the notices", () => {
  test.each(["server", "dashboard"] as const)("name every package that is bundled into the %s", (folder) => {
    const imported = importedBy(folder === "server" ? folder : "dashboard/src");
    expect(imported.length).toBeGreaterThan(10);
    expect(imported.filter((name) => !names(folder).includes(name))).toEqual([]);
  });

  test("name transitive packages, and packages whose files lie beside the programs", () => {
    expect(names("server")).toEqual(expect.arrayContaining(["pyodide", "sqlite-vec", "moment-timezone", "file-type"]));
    expect(names("dashboard")).toEqual(expect.arrayContaining(["react", "scheduler", "micromark", "tailwindcss"]));
    const parts = notices.parts.map(({ name }) => name);
    expect(parts).toEqual(expect.arrayContaining(["Bun", "CPython", "QuickJS", "JavaScriptCore"]));
  });

  test("state each package's version, licence and source", () => {
    const { dependencies } = JSON.parse(readFileSync(inProject("package.json"), "utf8"));
    for (const { name, version, license, source } of [...notices.server, ...notices.dashboard]) {
      expect({ name, version, license, source }).toEqual({
        name,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        license: expect.stringMatching(/^\(?(MIT|Apache|BSD|ISC|MPL|0BSD|CC0|Python|BlueOak)/),
        source: expect.stringMatching(/^https:\/\//),
      });
      if (name in dependencies && names("server").filter((one) => one === name).length === 1)
        expect(`${name} ${version}`).toBe(`${name} ${dependencies[name]}`);
    }
  });

  test("in full have every licence text, and for packages without one the standard text with the author", () => {
    const text = licensesText(notices);
    expect(text).toStartWith("runnel (Apache-2.0)");
    const all = [...notices.server, ...notices.dashboard, ...notices.parts];
    expect(all.filter(({ name, version }) => !text.includes(`\n${name} ${version} (`))).toEqual([]);
    expect(all.filter((notice) => notice.text !== null && !text.includes(notice.text))).toEqual([]);
    const without = all.filter((notice) => notice.text === null);
    expect(without.filter(({ license }) => license !== "public domain")).toEqual([]);
    const drizzle = all.find(({ name }) => name === "drizzle-orm")!;
    expect(drizzle.text).toStartWith("Copyright (c) Drizzle Team\n\n");
    expect(all.find(({ name }) => name === "zlib-ng")!.text).toContain("'as-is'");
    expect(all.find(({ name }) => name === "JavaScriptCore")!.text).toContain("GNU LIBRARY GENERAL PUBLIC LICENSE");
  });
});
