import { expect, test } from "bun:test";
import { created, stateOf } from "../../domain/__fixtures__/events.ts";
import type { ModelError } from "../models/model.ts";
import { createModelRetryPolicy, pauseBeforeMove, timeLeft } from "./model-retry-policy.ts";

const limited = (retry_after_ms: number | null): ModelError => ({
  code: "model_rate_limited",
  message: "Slow down.",
  retryable: true,
  retry_after_ms,
  aborted: false,
  request: "answered",
});

test("a server that asks to wait for ten minutes is believed, if the run has the time", () => {
  const { after } = createModelRetryPolicy(() => 3_600_000);
  expect(after(limited(600_000))).toEqual({ delay_ms: 600_000 });
});

test("a wait beyond the run's time is not begun, and the error says why", () => {
  const { after } = createModelRetryPolicy(() => 60_500);
  expect(after(limited(61_000))).toEqual({
    delay_ms: null,
    reason: "It asks to wait 61 seconds, and the run has 61 left.",
  });
});

test("a run's time ends with its timeout or with its budget's time, whichever is first", () => {
  const state = stateOf(created({ timeout_ms: 60_000 }));
  const at = state.created_at;
  expect(timeLeft(state, at + 10_000)).toBe(50_000);
  expect(timeLeft(stateOf(created({ timeout_ms: 60_000, budget: { max_wall_ms: 15_000 } })), at + 10_000)).toBe(5000);
});

test("with another model, a wait of more than ten seconds is not awaited, and four attempts are enough", () => {
  expect(pauseBeforeMove(limited(10_000), 1)).toBe(10_000);
  expect(pauseBeforeMove(limited(10_001), 1)).toBeNull();
  expect(pauseBeforeMove(limited(1), 4)).toBeNull();
  expect(pauseBeforeMove({ ...limited(null), code: "model_error", request: "not_sent" }, 1)).toBeNull();
});
