import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createLoginThrottle } from "./login-throttle.ts";

const hour = 3_600_000;

afterEach(() => {
  setSystemTime();
});

test.each([hour, -hour])(
  "a clock that is set by %d ms neither lifts the pause after failures nor lengthens it",
  (jump) => {
    const throttle = createLoginThrottle();
    for (let attempt = 0; attempt < 5; attempt++) expect(throttle.take("ann@example.com", "10.0.0.1")).toBe(0);
    setSystemTime(Date.now() + jump);
    const seconds = throttle.take("ann@example.com", "10.0.0.1");
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(15 * 60);
  },
);

test("one network gets fifteen failures, whatever accounts it makes up, and the others get theirs", () => {
  const throttle = createLoginThrottle();
  const guess = (index: number, address: string) => throttle.take(`nobody${index}@example.com`, address);
  for (let index = 0; index < 15; index++) expect(guess(index, `2001:db8::${index + 1}`)).toBe(0);
  expect(guess(15, "2001:db8::ffff")).toBeGreaterThan(0);
  expect(guess(15, "10.0.0.1")).toBe(0);
});

test("a sign-in takes back its own attempt on the network and no other", () => {
  const throttle = createLoginThrottle();
  const guess = (index: number) => throttle.take(`nobody${index}@example.com`, "10.0.0.1");
  for (let index = 0; index < 14; index++) guess(index);
  for (let times = 0; times < 20; times++) {
    expect(throttle.take("ann@example.com", "10.0.0.1")).toBe(0);
    throttle.forgive("ann@example.com", "10.0.0.1");
  }
  expect(guess(14)).toBe(0);
  expect(guess(15)).toBeGreaterThan(0);
});
