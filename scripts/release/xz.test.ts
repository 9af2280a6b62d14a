import { expect, test } from "bun:test";
import { tarOf } from "../gzipped-tar.ts";
import { compressXz } from "./xz.ts";

test.skipIf(Bun.which("xz") === null)("an archive in xz is the same each time, and tar extracts it", async () => {
  const tar = tarOf([["bin/run", Buffer.from("#!/bin/sh\n"), 0o755]]);
  const [one, other] = [await compressXz(tar), await compressXz(tar)];
  expect(one).toEqual(other);
  const { stdout } = Bun.spawnSync(["tar", "-xJO"], { stdin: one });
  expect(stdout.toString()).toBe("#!/bin/sh\n");
});
