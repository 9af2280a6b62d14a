import { describe, expect, test } from "bun:test";
import { statfsSync, statSync } from "node:fs";
import { silentLog } from "../../lib/log.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { createBallast } from "./ballast.ts";
import { createDiskSpace, defaultReserve } from "./disk-space.ts";
import { openDatabase } from "./open.ts";

const [megabyte, gigabyte] = [1024 ** 2, 1024 ** 3];

test("512 MB are kept free, or 5 % of a small disk", () => {
  expect(defaultReserve(4000 * gigabyte)).toBe(512 * megabyte);
  expect(defaultReserve(2 * gigabyte)).toBeCloseTo(102.4 * megabyte, 0);
  expect(defaultReserve(64 * megabyte)).toBeCloseTo(3.2 * megabyte, 0);
});

describe("new work", () => {
  /** Watches the real disk with a reserve above or below its free space. */
  function watched(look_ms = 3_600_000) {
    const folder = temporaryFolder();
    const db = openDatabase(folder.file("runnel.db"));
    let kept = 0;
    const told: string[] = [];
    const tell = (message: string) => void told.push(message);
    const space = createDiskSpace({
      folder: folder.path,
      db,
      ballast: { size_bytes: 0, held: () => true, release: () => false, make: async () => {} },
      reserve: () => kept,
      log: { ...silentLog, info: tell, error: tell },
      look_ms,
    });
    const keepMore = (bytes: number) => {
      const { bavail, bsize } = statfsSync(folder.path);
      kept = bavail * bsize + bytes;
    };
    return {
      db,
      space,
      told,
      /** Sets the missing number of bytes, if positive. */
      lack(bytes: number) {
        keepMore(bytes);
        space.look();
      },
      /** Fills the disk without a check. */
      fillUp: () => keepMore(gigabyte),
      /** Makes room without a check. */
      makeRoom: () => keepMore(-gigabyte),
      [Symbol.dispose]() {
        space.stop();
        db.close();
        folder[Symbol.dispose]();
      },
    };
  }

  test("is refused with storage_full while less than the reserve is free, and accepted again afterwards; both are logged once", () => {
    using disk = watched();
    disk.space.requireRoom();
    disk.lack(gigabyte);
    disk.space.look();
    expect(() => disk.space.requireRoom()).toThrow(expect.objectContaining({ code: "storage_full", retryAfter: 30 }));
    disk.lack(-gigabyte);
    disk.space.requireRoom();
    expect(disk.told.map((line) => line.split(":")[0])).toEqual(["the disk is nearly full", "the disk has room again"]);
  });

  test("is refused as soon as the disk fills up, before the next periodic check", async () => {
    using disk = watched();
    disk.fillUp();
    const isTaken = () => {
      try {
        disk.space.requireRoom();
        return true;
      } catch {
        return false;
      }
    };
    while (isTaken()) await Bun.sleep(1);
  });

  test("that was refused is followed by a log entry as soon as the disk has room again, without another request", async () => {
    using disk = watched(5);
    await Bun.sleep(20); // By then the checks rest.
    disk.fillUp();
    expect(() => disk.space.requireRoom(true)).toThrow();
    disk.makeRoom();
    while (disk.told.length < 2) await Bun.sleep(1);
    expect(disk.told[1]).toStartWith("the disk has room again");
  });

  test("is accepted when deleted runs left enough free pages in the database", async () => {
    using disk = watched();
    const { sqlite, write } = disk.db;
    const add = sqlite.query("INSERT INTO facts (name, value) VALUES (?, ?)");
    await write(() => Array.from({ length: 40 }, (_, n) => add.run(`fact ${n}`, "x".repeat(megabyte))));
    disk.lack(8 * megabyte);
    expect(() => disk.space.requireRoom()).toThrow();
    await write(() => sqlite.run("DELETE FROM facts WHERE name LIKE 'fact %'"));
    disk.lack(8 * megabyte);
    disk.space.requireRoom();
  });
});

describe("the ballast", () => {
  test("takes real room on the disk, frees it at once, and is made again", async () => {
    using folder = temporaryFolder();
    const ballast = createBallast(folder.path);
    await ballast.make();
    expect(ballast.held()).toBe(true);
    expect(statSync(folder.file("ballast")).blocks * 512).toBeGreaterThanOrEqual(ballast.size_bytes);
    expect(ballast.release()).toBe(true);
    expect(ballast.held()).toBe(false);
    expect(ballast.release()).toBe(false);
    await ballast.make();
    expect(ballast.held()).toBe(true);
  });

  test("that is released while it is written is not completed on a full disk", async () => {
    using folder = temporaryFolder();
    const ballast = createBallast(folder.path);
    const made = ballast.make();
    while (!statSync(folder.file("ballast"), { throwIfNoEntry: false })?.size) await Bun.sleep(0);
    ballast.release();
    await made;
    expect(statSync(folder.file("ballast"), { throwIfNoEntry: false })).toBeUndefined();
  });
});
