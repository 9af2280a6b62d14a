import { expect, test } from "bun:test";
import { tokensIn } from "../../domain/usage.ts";
import type { ModelRequest } from "../models/model.ts";
import { unknownUsage } from "../models/model.ts";
import { spendingOf } from "./spending.ts";

test("usage that a provider does not report is estimated by the length of the request as JSON", () => {
  for (const count of [1, 2, 61]) {
    const messages = Array.from({ length: count }, (_, index) => ({ role: "user" as const, content: `"${index}"\né` }));
    const tools = [{ name: "look", description: "Looks.", parameters: {} }];
    const request: ModelRequest = { messages, tools, settings: {} };
    const { usage, estimated } = spendingOf({ usage: unknownUsage, failed: false, said: 40 }, request, null);
    expect(estimated).toBe(true);
    expect(usage.input_tokens).toBe(tokensIn(JSON.stringify(messages).length + JSON.stringify(tools).length));
  }
});
