import { expect, test } from "bun:test";
import { sha256 } from "../../lib/hash.ts";
import { differences } from "./set-skill.ts";

const file = (path: string, content: string | Uint8Array<ArrayBuffer>) => ({
  path,
  bytes: typeof content === "string" ? new TextEncoder().encode(content) : content,
});
const stored = (files: Record<string, string | Uint8Array>) => ({
  files: Object.entries(files).map(([path, content]) => ({ path, sha256: sha256(content) })),
});

test("files that are new, gone or different are the differences, in their order", () => {
  const own = [file("SKILL.md", "a"), file("new", ""), file("other", "1")];
  expect(differences(own, stored({ "SKILL.md": "a", gone: "", other: "2" }))).toEqual(["gone", "new", "other"]);
  expect(differences(own, stored({ other: "1", new: "", "SKILL.md": "a" }))).toEqual([]);
});

test("a checkout on Windows makes no difference, and corrected line ends do", () => {
  const [plain, windows] = ["#!/bin/sh\necho\n", "#!/bin/sh\r\necho\r\n"];
  expect(differences([file("run.sh", windows)], stored({ "run.sh": plain }))).toEqual([]);
  expect(differences([file("run.sh", windows)], stored({ "run.sh": windows }))).toEqual([]);
  expect(differences([file("run.sh", plain)], stored({ "run.sh": windows }))).toEqual(["run.sh"]);
});

test("line ends of a file that is no text are part of it", () => {
  const picture = new Uint8Array([0x89, 0x50, 0x0d, 0x0a, 0x00]);
  expect(differences([file("a.png", picture)], stored({ "a.png": new Uint8Array([0x89, 0x50, 0x0a, 0x00]) }))).toEqual([
    "a.png",
  ]);
});
