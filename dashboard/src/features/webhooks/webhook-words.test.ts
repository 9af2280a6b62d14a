import { expect, test } from "bun:test";
import type { Webhook, WebhookDelivery as WholeDelivery } from "../../../../server/domain/api-types/webhook.ts";
import { disabledReason, testWords } from "./webhook-words.ts";

const tried = (status: WholeDelivery["status"], last: object) =>
  ({ status, attempts: [{ number: 1, latency_ms: 12, ...last }] }) as WholeDelivery;

test("a test event is described by its response or by its error", () => {
  expect(testWords(tried("delivered", { response: { status: 204 } }))).toBe("The endpoint returned 204 in 12 ms.");
  const error = { code: "connection_failed", message: "Nobody listens there." };
  expect(testWords(tried("failed", { response: null, error }))).toBe("Nobody listens there.");
});

test("a disabled webhook shows the reason, and a failing one the consequence", () => {
  const said = (webhook: Partial<Webhook>) => disabledReason(webhook as Webhook);
  expect(said({ status: "active" })).toBeNull();
  expect(said({ status: "disabled", disabled_reason: "gone" })).toContain("410");
  expect(said({ status: "failing", failure_count: 3 })).toContain("The last 3 attempts failed");
});
