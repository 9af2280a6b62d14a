import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { inProject } from "../root.ts";
import { operateFilesOf } from "./operate-files.ts";
import { readmeOf } from "./readme.ts";
import { targets } from "./targets.ts";

test.each(targets)("the operators' files in the archive for $name exist, and its README names each", (target) => {
  const readme = readmeOf(target, "1.2.3", false);
  const files = operateFilesOf(target);
  expect(files.filter((file) => !existsSync(inProject("server/docs/files", file)))).toEqual([]);
  expect(files.filter((file) => !readme.includes(`\`${file}\``))).toEqual([]);
  expect(files.includes("runnel.service")).toBe(target.name.startsWith("linux"));
});

test.each(["container", "service", "monitoring", "cluster-kubernetes"])(
  "the archive for linux-x64 has every file that the page %s gives",
  (name) => {
    const files = operateFilesOf(targets.find((target) => target.name === "linux-x64")!);
    const page = readFileSync(inProject(`server/docs/operate/${name}.md`), "utf8");
    const linked = [...page.matchAll(/\(\.\.\/files\/([\w.-]+)\)/g)].map(([, file]) => file!);
    expect(linked.length).toBeGreaterThan(0);
    expect(linked.filter((file) => !files.includes(file))).toEqual([]);
  },
);
