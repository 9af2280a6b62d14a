import { expect, test } from "bun:test";
import { readSettingsSearch } from "./read-settings-search.ts";

test("the first tab is the default, also for an unknown one", () => {
  for (const search of [{}, { tab: "project" }, { tab: "nonsense" }, { tab: 7 }])
    expect(readSettingsSearch(search)).toEqual({});
  expect(readSettingsSearch({ tab: "people" })).toEqual({ tab: "people" });
});

test("a tab keeps its own filters and drops those of others", () => {
  const all = { action: "key.created", actor: "usr_1", target: "key_1", after: "aud_1", q: "gpt" };
  expect(readSettingsSearch({ ...all, tab: "audit" })).toEqual({
    tab: "audit",
    action: "key.created",
    actor: "usr_1",
    target: "key_1",
    after: "aud_1",
  });
  expect(readSettingsSearch({ ...all, tab: "prices" })).toEqual({ tab: "prices", q: "gpt" });
  expect(readSettingsSearch({ ...all, tab: "limits" })).toEqual({ tab: "limits" });
  expect(readSettingsSearch({ tab: "audit", action: "Robert'); DROP" })).toEqual({ tab: "audit" });
});
