import { expect, test } from "bun:test";
import { createAfterCommits } from "./after-commits.ts";
import { openDatabase } from "./open.ts";

test("what follows from commits is done one at a time, and again where it failed, though nothing more is committed", async () => {
  const db = openDatabase(":memory:");
  const errors: string[] = [];
  const done = Promise.withResolvers<void>();
  let [works, atOnce] = [0, 0];
  const after = createAfterCommits({
    db,
    async work() {
      expect(++atOnce).toBe(1);
      await Bun.sleep(1);
      atOnce--;
      if (++works === 1) throw new Error("the disk is full");
      done.resolve();
    },
    log: { error: (message) => void errors.push(message) },
    failed: "not done yet",
    soon_ms: 0,
    again_ms: 1,
  });
  after.start();
  await done.promise;
  expect(errors).toEqual(["not done yet"]);
  await after.stop();
  expect(after.working()).toBeNull();
  db.close();
});

test("what is committed behind what the work has read is looked at too, though nothing more is committed", async () => {
  const db = openDatabase(":memory:");
  const due: string[] = [];
  const done: string[] = [];
  const [read, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const later = Promise.withResolvers<void>();
  const after = createAfterCommits({
    db,
    async work() {
      done.push(...due.splice(0));
      read.resolve();
      await later.promise;
      if (done.length === 2) all.resolve();
    },
    log: { error() {} },
    failed: "",
    soon_ms: 0,
  });
  const commit = (name: string) => db.write(() => void due.push(name));
  await commit("first");
  after.start();
  await read.promise;
  await commit("second");
  later.resolve();
  await all.promise;
  expect(done).toEqual(["first", "second"]);
  await after.stop();
  db.close();
});

test("nothing is done before the start, or after the stop", async () => {
  const db = openDatabase(":memory:");
  let works = 0;
  const after = createAfterCommits({
    db,
    work: async () => void works++,
    log: { error() {} },
    failed: "",
    soon_ms: 0,
  });
  const commit = () => db.write(() => db.sqlite.run("PRAGMA user_version"));
  await commit();
  await Bun.sleep(0);
  expect(works).toBe(0);
  after.start();
  await after.stop();
  await commit();
  await Bun.sleep(5);
  expect(works).toBe(0);
  db.close();
});

test("nothing is done while the disk is nearly full, and it is once there is room, though nothing more is committed", async () => {
  const db = openDatabase(":memory:");
  const [asked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [hasRoom, works] = [false, 0];
  const after = createAfterCommits({
    db,
    async work() {
      works++;
      done.resolve();
    },
    requireRoom() {
      asked.resolve();
      if (!hasRoom) throw new Error("the disk is nearly full");
    },
    log: { error: (message) => expect(message).toBe("no error") },
    failed: "not done yet",
    soon_ms: 0,
    again_ms: 1,
  });
  after.start();
  await asked.promise;
  expect(works).toBe(0);
  hasRoom = true;
  await done.promise;
  await after.stop();
  db.close();
});
