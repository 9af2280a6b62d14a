import { describe, expect, test } from "bun:test";
import { createTimeline, gaps, union } from "./timeline.ts";

describe("spans", () => {
  test("that overlap or touch are merged", () => {
    const spans = [
      { from: 5, to: 9 },
      { from: 0, to: 3 },
      { from: 2, to: 4 },
      { from: 4, to: 5 },
      { from: 7, to: 7 },
    ];
    expect(union(spans)).toEqual([{ from: 0, to: 9 }]);
  });

  test("have gaps between them", () => {
    expect(
      gaps({ from: 0, to: 10 }, [
        { from: 2, to: 4 },
        { from: 6, to: 20 },
      ]),
    ).toEqual([
      { from: 0, to: 2 },
      { from: 4, to: 6 },
    ]);
    expect(gaps({ from: 0, to: 10 }, [])).toEqual([{ from: 0, to: 10 }]);
  });
});

describe("a timeline", () => {
  const whole = { from: 1000, to: 101_000 };
  const work = [
    { from: 1000, to: 6000 },
    { from: 96_000, to: 101_000 },
  ];

  test("without folds is to scale", () => {
    const line = createTimeline(whole, work, false);
    expect([line.at(1000), line.at(51_000), line.at(101_000)]).toEqual([0, 0.5, 1]);
    expect(line.folds).toEqual([]);
  });

  test("folds a long wait into a narrow break and keeps times in order", () => {
    const line = createTimeline(whole, work, true);
    expect(line.folds).toEqual([{ from: 6000, to: 96_000 }]);
    expect(line.at(6000)).toBeGreaterThan(0.45);
    expect(line.at(96_000) - line.at(6000)).toBeCloseTo(0.05);
    const places = [1000, 3000, 6000, 50_000, 96_000, 99_000, 101_000].map(line.at);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test("maps every position back to a time, folded or not", () => {
    for (const folded of [true, false]) {
      const line = createTimeline(whole, work, folded);
      for (const time of [1000, 2500, 6000, 30_000, 97_000, 101_000])
        expect(line.timeOf(line.at(time))).toBeCloseTo(time, 3);
    }
  });

  test("zooms into a part with ticks of its own", () => {
    const line = createTimeline(whole, work, false);
    const near = line.zoom({ from: line.at(2000), to: line.at(4000) });
    expect([2000, 3000, 4000].map(near.at)).toEqual([0, 0.5, 1].map((at) => expect.closeTo(at, 9)));
    expect(near.timeOf(0.5)).toBeCloseTo(3000, 3);
    expect(near.at(1000)).toBeLessThan(0);
    expect(near.at(101_000)).toBeGreaterThan(1);
    expect(near.ticks.length).toBeGreaterThan(2);
    for (const { at } of near.ticks) expect(at >= 0 && at <= 1).toBe(true);
    expect(near.zoom({ from: 0, to: 1 }).ticks).toEqual(line.ticks);
  });

  test("keeps short pauses and limits the number of folds", () => {
    const short = createTimeline(
      { from: 0, to: 9000 },
      [
        { from: 0, to: 1000 },
        { from: 5000, to: 9000 },
      ],
      true,
    );
    expect(short.folds).toEqual([]);
    const many = Array.from({ length: 40 }, (_, i) => ({ from: i * 10_000, to: i * 10_000 + 100 }));
    const line = createTimeline({ from: 0, to: 390_100 }, many, true);
    expect(line.folds).toHaveLength(12);
    expect(line.at(390_100)).toBeCloseTo(1);
  });

  test("without any time still works", () => {
    const line = createTimeline({ from: 5, to: 5 }, [], true);
    expect(line.at(5)).toBe(0);
    expect(line.ticks.length).toBeGreaterThan(0);
  });

  test.each([
    [900, ["0 ms", "200 ms", "400 ms", "600 ms", "800 ms"]],
    [9500, ["0 s", "2 s", "4 s", "6 s", "8 s"]],
    [20 * 60_000, ["0 s", "5 min", "10 min", "15 min", "20 min"]],
  ])("of %d ms has round ticks", (length, labels) => {
    const line = createTimeline({ from: 0, to: length }, [{ from: 0, to: length }], true);
    expect(line.ticks.map(({ label }) => label)).toEqual(labels);
  });
});
