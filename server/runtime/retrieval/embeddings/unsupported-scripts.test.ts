import { expect, test } from "bun:test";
import { unitVector } from "../../../lib/unit-vector.ts";
import { unsupportedScripts } from "./unsupported-scripts.ts";

const likeness = (one: string, other: string): number => {
  const [a, b] = [one, other].map((text) => unitVector(unsupportedScripts(text, 512).vector)!) as [
    Float32Array,
    Float32Array,
  ];
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
};

test.each([
  ["Refunds take five days.", 0],
  ["Für Größe Ångström façade, naïve №5", 0],
  ["12 + 30 = 42 €", 0],
  ["", 0],
  ["Привет мир", 1],
  ["退款政策", 1],
  ["half наполовину", 10 / 14],
])("of %j the share %d is in unsupported scripts", (text, share) => {
  expect(unsupportedScripts(text, 512).share).toBeCloseTo(share, 5);
});

test.each([
  ["退款政策是什么", "我们的退款政策：七天内可以退款", "今天天气很好，我们去公园"],
  ["политика возврата", "условия возврата товара", "сегодня хорошая погода"],
  ["환불 정책", "환불 정책 안내입니다", "오늘 날씨가 좋네요"],
])("%j is more similar to %j than to %j", (text, near, far) => {
  expect(likeness(text, near)).toBeGreaterThan(likeness(text, far) + 0.2);
});
