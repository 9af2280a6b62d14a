import { BlockList } from "node:net";

// Independent oracle for the address guard: it uses the platform's reader and ranges given by their first and last
// addresses.

/** IPv4 ranges that the public internet does not route, by first and last address. */
export const closed4 = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["168.63.129.16", "168.63.129.16"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.31.196.0", "192.31.196.255"],
  ["192.52.193.0", "192.52.193.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["192.175.48.0", "192.175.48.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
] as const;

/** Ranges within 2000::/3 that are closed. */
export const closed6 = [
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
] as const;

const shut4 = listOf(closed4, "ipv4");
const shut6 = listOf(closed6, "ipv6");
const routed6 = listOf([["2000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]], "ipv6");

/** True if an address of four octets is public. */
export const opens4 = (octets: readonly number[]): boolean => !shut4.check(octets.join("."), "ipv4");

/** True if an address of eight groups is public. */
export function opens6(groups: readonly number[]): boolean {
  const lead = groups.slice(0, 6).join();
  if (lead === "0,0,0,0,0,65535" || lead === "100,65435,0,0,0,0") return opens4(tailOctets(groups));
  const text = groups.map((group) => group.toString(16)).join(":");
  return routed6.check(text, "ipv6") && !shut6.check(text, "ipv6");
}

/** Returns the last 32 bits as octets. */
const tailOctets = (groups: readonly number[]): number[] =>
  groups.slice(6).flatMap((group) => [group >> 8, group & 255]);

function listOf(ranges: readonly (readonly [string, string])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [first, last] of ranges) list.addRange(first, last, family);
  return list;
}
