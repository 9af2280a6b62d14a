import { expect, test } from "bun:test";
import { createPageProgress } from "./page-progress.ts";

test("many pages in one moment are one write, of the last of them", async () => {
  const written: unknown[] = [];
  const first = Promise.withResolvers<void>();
  const progress = createPageProgress((...pages) => {
    written.push(pages);
    first.resolve();
  }, 3_600_000);
  for (let done = 1; done <= 100; done++) progress.tell(done, 200);
  await first.promise;
  for (let done = 101; done <= 200; done++) progress.tell(done, 200);
  await Bun.sleep(0);
  expect(written).toEqual([[100, 200]]);
  progress.stop();
});

test("the last number is written, though no page follows", async () => {
  const last = Promise.withResolvers<number>();
  const progress = createPageProgress((done) => done > 1 && last.resolve(done), 1);
  progress.tell(1, 9);
  await Bun.sleep(0);
  progress.tell(7, 9);
  expect(await last.promise).toBe(7);
});
