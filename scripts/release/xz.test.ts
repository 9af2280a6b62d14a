import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { tarOf } from "../gzipped-tar.ts";
import { createXz, piecesOf } from "./xz.ts";

const hasXz = Bun.which("xz") !== null;
const extracted = (archive: Uint8Array, command = ["tar", "-xJO"]) => {
  const { stdout, stderr } = Bun.spawnSync(command, { stdin: archive });
  expect(stderr.toString()).toBe("");
  return stdout.toString();
};

test.skipIf(!hasXz)("an archive in xz is the same each time, and tar extracts it", async () => {
  const tar = tarOf([["bin/run", Buffer.from("#!/bin/sh\n"), 0o755]]);
  const [one, other] = [await createXz()(tar), await createXz()(tar)];
  expect(one).toEqual(other);
  expect(extracted(one)).toBe("#!/bin/sh\n");
});

test.skipIf(!hasXz)("xz reads an archive of many blocks, and finds a damaged one", async () => {
  const parts = Array.from({ length: 200 }, (_, index) => Buffer.from(`part ${index}: ${"x".repeat(index)}\n`));
  const whole = Buffer.concat(parts);
  const archive = await createXz()(whole, parts.slice(0, 20));
  expect(extracted(archive, ["xz", "--decompress", "--stdout"])).toBe(whole.toString());
  archive[40]! ^= 1;
  expect(Bun.spawnSync(["xz", "--test"], { stdin: archive }).exitCode).toBe(1);
});

test.skipIf(!hasXz)("what two archives share has the same bytes in both, whatever surrounds it", async () => {
  const shared = randomBytes(100_000);
  const compress = createXz();
  const [one, other] = [Buffer.from("first"), Buffer.from("the second one")];
  const [first, second] = await Promise.all([
    compress(Buffer.concat([one, shared]), [shared]),
    compress(Buffer.concat([shared, other]), [shared]),
  ]);
  const inFirst = first.indexOf(shared.subarray(0, 1000)); // Noise is stored as it is.
  expect(inFirst).toBeGreaterThan(0);
  const block = first.subarray(inFirst, inFirst + shared.length);
  expect(second.includes(block)).toBe(true);
  // The order in which archives are made, and others beside them, change no byte.
  expect(await createXz()(Buffer.concat([shared, other]), [shared])).toEqual(second);
});

test("an input is cut at its parts, also where one is inside another, and only where a part is complete", () => {
  const cut = (...parts: string[]) =>
    piecesOf(
      Buffer.from("a house by the sea"),
      parts.map((part) => Buffer.from(part)),
    ).map(String);
  expect(cut()).toEqual(["a house by the sea"]);
  expect(cut("house by", "by", "hut", "a")).toEqual(["a", " ", "house ", "by", " the sea"]);
  expect(cut("a house by the sea")).toEqual(["a house by the sea"]);
  expect(piecesOf(Buffer.from("ab abc"), [Buffer.from("abc")]).map(String)).toEqual(["ab ", "abc"]);
});
