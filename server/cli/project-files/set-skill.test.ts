import { expect, test } from "bun:test";
import { sha256 } from "../../lib/hash.ts";
import { readSkill } from "../../runtime/skills/read-skill.ts";
import { skillText } from "../../testing/archives.ts";
import { differences, packSkill } from "./set-skill.ts";

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

test("a packed skill is read as the same files: empty ones, long paths, any script, any bytes", async () => {
  const files = [
    file("SKILL.md", skillText("letters")),
    file("empty/.gitkeep", ""),
    file(`${"deep/".repeat(15)}${"x".repeat(200)}.md`, "long"),
    file("日本/ü é.txt", "é\r\n"),
    file("a.bin", crypto.getRandomValues(new Uint8Array(60_000))),
  ];
  const read: { path: string; hash: string }[] = [];
  const head = readSkill(await packSkill(files), ({ path, bytes }) => read.push({ path, hash: sha256(bytes) }));
  expect(head.name).toBe("letters");
  const sorted = files
    .map(({ path, bytes }) => ({ path, hash: sha256(bytes) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  expect(read).toEqual(sorted);
});

test("a skill of the most bytes is compressed, and one that is too long even then is refused before it is sent", async () => {
  const most = (content: (length: number) => Uint8Array<ArrayBuffer>) => [
    file("SKILL.md", skillText("letters")),
    ...Array.from({ length: 4 }, (_, i) => file(`${i}.txt`, content(2 ** 22 - 100))),
  ];
  const random = (length: number) => {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    return bytes;
  };
  const words = (length: number) =>
    Buffer.from(
      random(length / 2)
        .toHex()
        .slice(0, length),
    );
  const read: string[] = [];
  readSkill(await packSkill(most(words)), ({ path }) => read.push(path));
  expect(read).toHaveLength(5);
  await expect(packSkill(most(random))).rejects.toThrow("The skill packs to more than 16777216 bytes.");
});
