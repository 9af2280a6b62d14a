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

test("an unedited page is sent unchanged, including settings without a field", () => {
  expect(chatPageOf(chatDraftOf(page), page.budget)).toEqual(page);
});

test("a page keeps its label until another is chosen", () => {
  const labelled = { ...page, label: "production" };
  expect(chatPageOf(chatDraftOf(labelled), page.budget)).toEqual(labelled);
  expect(chatPageOf({ ...chatDraftOf(labelled), choice: "" }, page.budget)).toEqual(page);
  expect(chatPageOf({ ...chatDraftOf(page), choice: "@beta" }, page.budget).label).toBe("beta");
});

test("a new page has the API's default limits and is valid", () => {
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

test.each(["", "0", "-1", "1.5", "many"])("%p is not a valid number of runs", (visitor_day) => {
  expect(Object.keys(chatFaults({ ...chatDraftOf(null), visitor_day }))).toEqual(["visitor_day"]);
});

test.each(["0", "-1", "free"])("%p is not a valid budget", (max_cost_usd) => {
  expect(Object.keys(chatFaults({ ...chatDraftOf(null), max_cost_usd }))).toEqual(["max_cost_usd"]);
});
