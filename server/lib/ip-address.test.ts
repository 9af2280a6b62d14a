import { expect, test } from "bun:test";
import { isIP } from "node:net";
import fc from "fast-check";
import { isCloudMetadata, isLoopback, isPublic, networkContains, parseAddress, parseCidr } from "./ip-address.ts";

function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isPublic(address);
}

const reachable = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "2a00:1450:4001:80b::200e",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "64:ff9b::808:808",
  "64:ff9b::8.8.8.8",
];

test.each(reachable)("%s is a public address", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

const unreachable = [
  // This machine, this network, unspecified.
  "0.0.0.0",
  "0.255.255.255",
  "127.0.0.1",
  "127.255.255.255",
  "::",
  "::1",
  // Private and shared space.
  "10.0.0.0",
  "10.255.255.255",
  "100.64.0.0",
  "100.127.255.255",
  "172.16.0.0",
  "172.31.255.255",
  "192.168.0.0",
  "192.168.255.255",
  "fc00::1",
  "fdff::1",
  // Link-local, multicast, broadcast, reserved.
  "169.254.0.1",
  "169.254.255.255",
  "fe80::1",
  "fec0::1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "ff02::1",
  // Protocol assignments, documentation, benchmarking, AS112, 6to4 relays.
  "192.0.0.1",
  "192.0.2.1",
  "192.31.196.1",
  "192.52.193.1",
  "192.88.99.1",
  "192.175.48.1",
  "198.18.0.0",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.7",
  "2001:db8::1",
  "2001:2::1",
  "2001:10::1",
  "3fff::1",
  "2620:4f:8000::1",
  // Discard-only, and unassigned space.
  "100::1",
  "4000::1",
  "8000::1",
  // Cloud metadata.
  "169.254.169.254",
  "169.254.170.2",
  "100.100.100.200",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd20:ce::254",
  // IPv4 inside IPv6.
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:10.0.0.1",
  "::ffff:169.254.169.254",
  "64:ff9b::7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b::a83f:8110",
  "64:ff9b:1::a00:1",
  "64:ff9b:1::808:808",
  "::ffff:0:127.0.0.1",
  "::ffff:0:8.8.8.8",
  "::127.0.0.1",
  "::8.8.8.8",
  "2002:7f00:1::",
  "2002:808:808::1",
  "2001:0:0:0:0:0:80ff:fffe",
  "2001::f7f7:f7f7",
];

test.each(unreachable)("%s is not a public address", (address) => {
  expect(parseAddress(address)).not.toBeNull();
  expect(isPublicAddress(address)).toBe(false);
});

const unreadable = [
  "",
  "localhost",
  "1.2.3",
  "1.2.3.4.5",
  "1.2.3.256",
  "01.2.3.4",
  "0x7f.0.0.1",
  "2130706433",
  "1.2.3.4 ",
  "１.2.3.4",
  ":",
  ":::",
  "1::2::3",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7::8",
  "12345::",
  "g::",
  "fe80::1%eth0",
  "::1.2.3",
  "1.2.3.4::",
  "[::1]",
];

test.each(unreadable)("'%s' is no address, and therefore not public", (text) => {
  expect(parseAddress(text)).toBeNull();
  expect(isPublicAddress(text)).toBe(false);
});

// A second parser as oracle: a difference would be a hole.
test("the parser agrees with the platform's own one on what is an address", () => {
  const noise = fc.string({ unit: fc.constantFrom(..."0123456789abf:..::"), maxLength: 24 });
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), noise), (text) => {
      expect(parseAddress(text)?.family ?? 0).toBe(isIP(text) as 0 | 4 | 6);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["10.0.0.0/8", "10.200.3.4", true],
  ["10.0.0.0/8", "11.0.0.0", false],
  ["10.0.5.7/24", "10.0.5.200", true],
  ["10.0.0.1/32", "10.0.0.1", true],
  ["10.0.0.1/32", "10.0.0.2", false],
  ["10.0.0.0/8", "::ffff:10.1.1.1", true],
  ["fd00::/8", "fd12::1", true],
  ["fd00::/8", "fe00::1", false],
  ["::/1", "10.0.0.1", false],
  ["::/1", "::ffff:10.0.0.1", false],
  ["::fffe:0:0/95", "::ffff:10.0.0.1", false],
  ["::ffff:10.0.0.0/104", "10.1.1.1", true],
  ["::ffff:10.0.0.0/104", "::ffff:10.1.1.1", true],
  ["::ffff:10.0.0.0/104", "11.0.0.0", false],
])("%s holds %s: %p", (network, address, expected) => {
  expect(networkContains(parseCidr(network)!, parseAddress(address)!)).toBe(expected);
});

test.each(["10.0.0.0", "10.0.0.0/33", "::/129", "/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "a/8", "10.0.0/8"])(
  "'%s' is no network",
  (text) => {
    expect(parseCidr(text)).toBeNull();
  },
);

test("loopback is recognised in every spelling, and nothing else is loopback", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    expect(isLoopback(parseAddress(address)!)).toBe(true);
  for (const address of ["0.0.0.0", "::", "10.0.0.1", "64:ff9b::7f00:1", "::2", "128.0.0.1"])
    expect(isLoopback(parseAddress(address)!)).toBe(false);
});

test("cloud metadata is recognised through every translation prefix", () => {
  const spellings = [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "::169.254.169.254",
    "2002:a9fe:a9fe::",
    "2001::5601:5601",
    "fd00:ec2::254",
    "fe80::a9fe:a9fe",
  ];
  for (const address of spellings) expect([address, isCloudMetadata(parseAddress(address)!)]).toEqual([address, true]);
  for (const address of ["169.254.1.1", "8.8.8.8", "fd00::1"])
    expect(isCloudMetadata(parseAddress(address)!)).toBe(false);
});
