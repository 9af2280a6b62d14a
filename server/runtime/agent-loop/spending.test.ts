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

test("an estimate counts images, and the uses of the provider's tools although the answer failed", () => {
  const image = { file_id: "file_1", mime_type: "image/png", sha256: "a".repeat(64) };
  const plain = { role: "user" as const, content: "Look." };
  const spent = (images: (typeof image)[]) =>
    spendingOf(
      { usage: unknownUsage, failed: true, said: 10 },
      { messages: [images.length > 0 ? { ...plain, images } : plain], tools: [], settings: {} },
      null,
    ).usage.input_tokens ?? 0;
  expect(spent([image, image]) - spent([])).toBeGreaterThan(2000);
  const price = { input: 1, cached_input: 1, output: 1, as_of: null, source: "operator" as const };
  const failed = { usage: { ...unknownUsage, web_searches: 3 }, failed: true, said: 0 };
  const request = { messages: [plain], tools: [], settings: {} };
  const { cost_usd } = spendingOf(failed, request, price, { provider: "anthropic", model: "claude-sonnet-4-5" });
  expect(cost_usd).toBeGreaterThanOrEqual(0.03);
});
