import { expect, test } from "bun:test";
import { networkFault, readNetworks } from "./networks.ts";

test("networks are separated by line breaks or commas", () => {
  expect(readNetworks(" 10.0.0.0/8, 192.0.2.7/32\n2001:db8::/32 ")).toEqual([
    "10.0.0.0/8",
    "192.0.2.7/32",
    "2001:db8::/32",
  ]);
  expect(networkFault(readNetworks("10.0.0.0/8 2001:db8::/32"))).toBeNull();
});

test.each([
  ["10.4.0.0/33", "10.4.0.0/33 is not a network. An IPv4 mask ends at /32."],
  ["10.4.0.7", "10.4.0.7 is not a network. Add the mask: 10.4.0.7/32 is this address alone."],
  ["10.4.0.256/32", "10.4.0.256/32 is not a network. Each part of an address ends at 255."],
  ["office", "office is not a network. Must be a network such as 203.0.113.0/24."],
])("%s is reported as invalid, with the reason", (network, fault) => {
  expect(networkFault([network])).toBe(fault);
});
