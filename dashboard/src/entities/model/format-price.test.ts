import { expect, test } from "bun:test";
import { formatPrice } from "./format-price.ts";

test("a price has at least two decimals", () => {
  expect([0, 1.25, 10, 0.005, 1234.5].map(formatPrice)).toEqual(["$0.00", "$1.25", "$10.00", "$0.005", "$1,234.50"]);
});
