import { expect, test } from "bun:test";
import { findIssues, type WatchedSchedule, type WatchedWebhook } from "./troubles.ts";

const error = { code: "model_error", at: "2026-11-01T00:00:00.000Z" };
const schedule: WatchedSchedule = {
  id: "sch_1",
  name: "Digest",
  last_error: null,
  disabled_reason: null,
};
const webhook: WatchedWebhook = {
  id: "we_1",
  url: "https://example.com:8443/hook",
  status: "active",
  disabled_reason: null,
  failure_count: 0,
};

test("working or manually disabled schedules and webhooks are not listed", () => {
  const off: WatchedWebhook = { ...webhook, status: "disabled", disabled_reason: "requested" };
  expect(findIssues([schedule], [webhook, off])).toEqual([]);
});

test("a failed schedule links to its failed run, also once it is disabled, or to itself if it started none", () => {
  const failed = { ...schedule, last_error: { ...error, message: "The provider returned 503.", run_id: "run_1" } };
  const [trouble] = findIssues([failed], []);
  expect(trouble).toMatchObject({ title: "Schedule Digest failed", detail: failed.last_error.message, runId: "run_1" });
  const off = { ...failed, disabled_reason: "It failed five times." };
  expect(findIssues([off], [])).toMatchObject([{ detail: "It failed five times.", runId: "run_1" }]);
  const none = { ...schedule, last_error: { ...error, message: "The agent is deleted.", run_id: null } };
  expect(findIssues([none], [])).toMatchObject([{ runId: null }]);
});

test("a webhook is named by its host", () => {
  const failing: WatchedWebhook = { ...webhook, status: "failing", failure_count: 8 };
  const gone: WatchedWebhook = { ...webhook, status: "disabled", disabled_reason: "gone" };
  expect(findIssues([], [failing, gone]).map(({ title, detail }) => [title, detail])).toEqual([
    ["Webhook example.com:8443 fails", "The last 8 attempts failed."],
    ["Webhook example.com:8443 was disabled", "The endpoint returned 410 Gone."],
  ]);
});
