import { expect, test } from "bun:test";
import { chatDraftOf, chatFaults, chatPageOf } from "./chat-page-draft.ts";

const page = {
  access: "members" as const,
  title: "Ask us",
  files: true,
  limits: { runs_per_minute: 10, runs_per_day: 200 },
  visitor_limits: { runs_per_minute: 2, runs_per_day: 20 },
  budget: { max_cost_usd: 0.05, max_total_tokens: 1000 },
};

test("a page that is read and not changed is sent as it was, also what has no control", () => {
  expect(chatPageOf(chatDraftOf(page), page.budget)).toEqual(page);
});

test("a new page has the bounds of the API's own defaults, and nothing is wrong with it", () => {
  const draft = chatDraftOf(null);
  expect(chatFaults(draft)).toEqual({});
  expect(chatPageOf(draft, null)).toEqual({
    access: "link",
    title: null,
    budget: null,
    files: false,
    limits: { runs_per_minute: 60, runs_per_day: 1000 },
    visitor_limits: { runs_per_minute: 6, runs_per_day: 100 },
  });
});

test.each(["", "0", "-1", "1.5", "many"])("%p is no number of runs", (visitor_day) => {
  expect(Object.keys(chatFaults({ ...chatDraftOf(null), visitor_day }))).toEqual(["visitor_day"]);
});

test.each(["0", "-1", "free"])("%p is no budget", (max_cost_usd) => {
  expect(Object.keys(chatFaults({ ...chatDraftOf(null), max_cost_usd }))).toEqual(["max_cost_usd"]);
});
