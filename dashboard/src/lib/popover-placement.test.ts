import { expect, test } from "bun:test";
import { popoverPlacement } from "./popover-placement.ts";

const frame = { left: 200, top: 100, right: 1200, bottom: 900 };
const size = { width: 300, height: 40 };
const boxOf = (left: number, top: number, width: number, height: number) => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

test("a free frame places it in the lower right corner", () => {
  expect(popoverPlacement(frame, size, [])).toEqual({ left: 900, top: 860 });
});

test("if the right is occupied, the middle and the left at the same height follow", () => {
  const button = boxOf(1100, 870, 80, 24);
  expect(popoverPlacement(frame, size, [button])).toEqual({ left: 550, top: 860 });
  expect(popoverPlacement(frame, size, [button, boxOf(700, 870, 10, 10)])).toEqual({ left: 200, top: 860 });
});

test("above a bar as wide as the frame it keeps clear, and touching is allowed", () => {
  expect(popoverPlacement(frame, size, [boxOf(200, 852, 1000, 48)])).toEqual({ left: 900, top: 812 });
});

test("a fully occupied frame has no place", () => {
  expect(popoverPlacement(frame, size, [frame])).toBeNull();
  expect(popoverPlacement({ ...frame, bottom: 120 }, size, [])).toBeNull();
});
