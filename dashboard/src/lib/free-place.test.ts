import { expect, test } from "bun:test";
import { freePlace } from "./free-place.ts";

const frame = { left: 200, top: 100, right: 1200, bottom: 900 };
const size = { width: 300, height: 40 };
const boxOf = (left: number, top: number, width: number, height: number) => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

test("where nothing is taken, it is the lower right corner", () => {
  expect(freePlace(frame, size, [])).toEqual({ left: 900, top: 860 });
});

test("what is taken on the right leaves the middle and the left, on the same height", () => {
  const button = boxOf(1100, 870, 80, 24);
  expect(freePlace(frame, size, [button])).toEqual({ left: 550, top: 860 });
  expect(freePlace(frame, size, [button, boxOf(700, 870, 10, 10)])).toEqual({ left: 200, top: 860 });
});

test("above a bar as wide as the frame it stands clear of it, and touching is not meeting", () => {
  expect(freePlace(frame, size, [boxOf(200, 852, 1000, 48)])).toEqual({ left: 900, top: 812 });
});

test("where all is taken there is no place", () => {
  expect(freePlace(frame, size, [frame])).toBeNull();
  expect(freePlace({ ...frame, bottom: 120 }, size, [])).toBeNull();
});
