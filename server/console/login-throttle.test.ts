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
