import { expect, test } from "bun:test";
import { formatFigure } from "./use-timing.ts";

test("only a running figure is rounded to whole seconds", () => {
  const timing = { worked_ms: 895, waited_ms: 3400, recorded_ms: 12 };
  const told = (status: "in_progress" | "requires_action" | "completed") =>
    (["worked_ms", "waited_ms", "recorded_ms"] as const).map((figure) => formatFigure(figure, timing, status));
  expect(told("in_progress")).toEqual(["0 s", "3.40 s", "12 ms"]);
  expect(told("requires_action")).toEqual(["895 ms", "3 s", "12 ms"]);
  expect(told("completed")).toEqual(["895 ms", "3.40 s", "12 ms"]);
});
