import { expect, test } from "bun:test";
import { isZoomed, panned, wholeView, zoomed } from "./zoom.ts";

test("zooming keeps the time under the pointer in place", () => {
  const near = zoomed(wholeView, 2, 0.25);
  expect(near).toEqual({ from: 0.125, to: 0.625 });
  expect(near.from + 0.25 * (near.to - near.from)).toBeCloseTo(0.25);
  expect(zoomed(near, 0.5, 0.25)).toEqual(wholeView);
});

test("the view stays within the run and above the smallest useful width", () => {
  expect(panned(zoomed(wholeView, 2), 5)).toEqual({ from: 0.5, to: 1 });
  expect(panned(zoomed(wholeView, 2), -5)).toEqual({ from: 0, to: 0.5 });
  expect(zoomed(wholeView, 0.1)).toEqual(wholeView);
  const nearest = zoomed(wholeView, 1e9);
  expect(nearest.to - nearest.from).toBeCloseTo(1 / 5000);
  expect([wholeView, nearest].map(isZoomed)).toEqual([false, true]);
});
