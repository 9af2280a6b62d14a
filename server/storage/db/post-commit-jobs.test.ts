import { expect, jest, test } from "bun:test";
import { silentLog } from "../../lib/log.ts";
import { openDatabase } from "./open.ts";
import { createPostCommitJobs } from "./post-commit-jobs.ts";

test("post-commit work is done one piece at a time, and retried after a failure without another commit", async () => {
  const db = openDatabase(":memory:");
  const errors: string[] = [];
  const done = Promise.withResolvers<void>();
  let [works, atOnce] = [0, 0];
  const after = createPostCommitJobs({
    db,
    async work() {
      expect(++atOnce).toBe(1);
      await Bun.sleep(1);
      atOnce--;
      if (++works === 1) throw new Error("the disk is full");
      done.resolve();
    },
    log: { ...silentLog, error: (message) => void errors.push(message) },
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

test("a commit that the running work has not read is handled too, without another commit", async () => {
  const db = openDatabase(":memory:");
  const due: string[] = [];
  const done: string[] = [];
  const [read, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const later = Promise.withResolvers<void>();
  const after = createPostCommitJobs({
    db,
    async work() {
      done.push(...due.splice(0));
      read.resolve();
      await later.promise;
      if (done.length === 2) all.resolve();
    },
    log: silentLog,
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

test("no work is done before the start or after the stop", async () => {
  jest.useFakeTimers();
  try {
    const db = openDatabase(":memory:");
    let works = 0;
    const after = createPostCommitJobs({
      db,
      work: async () => void works++,
      log: silentLog,
      failed: "",
      soon_ms: 0,
    });
    const commit = () => db.write(() => db.sqlite.run("PRAGMA user_version"));
    await commit();
    jest.advanceTimersByTime(1000);
    expect(works).toBe(0);
    after.start();
    await after.stop();
    await commit();
    jest.advanceTimersByTime(1000);
    expect(works).toBe(0);
    db.close();
  } finally {
    jest.useRealTimers();
  }
});

test("no work is done while the disk is nearly full; it is done once there is room, without another commit", async () => {
  const db = openDatabase(":memory:");
  const [asked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [hasRoom, works] = [false, 0];
  const after = createPostCommitJobs({
    db,
    async work() {
      works++;
      done.resolve();
    },
    requireRoom() {
      asked.resolve();
      if (!hasRoom) throw new Error("the disk is nearly full");
    },
    log: { ...silentLog, error: (message) => expect(message).toBe("no error") },
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
