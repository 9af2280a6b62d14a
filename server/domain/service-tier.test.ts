import { expect, test } from "bun:test";
import type { ModelPrice } from "./price.ts";
import { dearestInTier, priceInTier, requestedTier, specialTier } from "./service-tier.ts";

const rates = { input: 2, cached_input: 0.2, output: 10, cache_write_5m: 2.5 };
const price: ModelPrice = { ...rates, long_context: { above: 9, ...rates, input: 4 }, as_of: null, source: "built_in" };

test("the tier is found in any field that a provider has for it", () => {
  expect(requestedTier({ extra_body: { service_tier: "priority" } })).toBe("priority");
  expect(requestedTier({ provider_options: { serviceTier: "flex" } })).toBe("flex");
  expect(requestedTier({ provider_options: { serviceTier: { type: "priority" } } })).toBe("priority");
  expect(requestedTier({ extra_body: { service_tier: "auto", speed: "fast" } })).toBe("fast");
  expect(requestedTier({ extra_body: { service_tier: "default" }, provider_options: {} })).toBeNull();
  for (const tier of [null, 7, {}, ""]) expect(requestedTier({ extra_body: { service_tier: tier } })).toBeNull();
  expect(requestedTier({})).toBeNull();
  expect(requestedTier({ headers: { "X-Vertex-AI-LLM-Shared-Request-Type": "priority" } })).toBe("priority");
  expect(requestedTier({ provider_options: { sharedRequestType: "flex" } })).toBe("flex");
  expect(requestedTier({ headers: { "x-team": "priority" } })).toBeNull();
  expect(specialTier("ON_DEMAND_PRIORITY")).toBe("priority");
  for (const traffic of ["ON_DEMAND", "TRAFFIC_TYPE_UNSPECIFIED"]) expect(specialTier(traffic)).toBeNull();
  expect(specialTier("SERVICE_TIER_PRIORITY")).toBe("priority");
});

test("every rate of a price is multiplied, and the price is an estimate", () => {
  const dear = { input: 5, cached_input: 0.5, output: 25, cache_write_5m: 6.25 };
  expect(priceInTier(price, "openai", "priority")).toEqual({
    ...price,
    ...dear,
    long_context: { above: 9, ...dear, input: 10 },
    estimated: true,
  });
  expect(priceInTier(price, "google", "flex")).toMatchObject({ input: 1, output: 5, estimated: true });
  // Paid in advance, so that its calls cost no more.
  expect(priceInTier(price, "anthropic", "priority")).toMatchObject({ input: 2, output: 10, estimated: true });
  expect(priceInTier(price, "openai", null)).toBe(price);
  expect(priceInTier(null, "openai", "priority")).toBeNull();
});

test("a tier that no list has costs at least the standard price, and a cheaper one reserves it", () => {
  expect(priceInTier(price, "openai", "scale")).toMatchObject({ input: 2, estimated: true });
  expect(priceInTier(price, "openai_compatible", "priority")).toMatchObject({ input: 5 });
  expect(dearestInTier(price, "openai", "flex")).toEqual(price);
  expect(dearestInTier(price, "anthropic", "priority")).toEqual(price);
  expect(dearestInTier(price, "openai", "ultrafast")).toMatchObject({ input: 12 });
});
