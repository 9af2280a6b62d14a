import { closed4, closed6, opens4, opens6 } from "./address-oracle.ts";
import type { Random } from "./random.ts";

/** Host as it may be written in a URL, and whether it is a public address. */
type Spelled = { host: string; open: boolean };

/** Returns a random address in a random URL spelling, more often close to the borders of closed ranges. */
export function anyAddress(random: Random): Spelled {
  if (random.chance(0.6)) {
    const octets = someOctets(random);
    return { host: spelled4(random, octets), open: opens4(octets) };
  }
  const groups = someGroups(random);
  return { host: `[${spelled6(random, groups)}]`, open: opens6(groups) };
}

const metadata4 = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192"];
const metadata6 = ["fd00:ec2::254", "fd20:ce::254", "fd00:ec2::23", "fd00:42::42", "fe80::a9fe:a9fe"];
const local6 = [
  "::",
  "::1",
  "::2",
  "fc00::1",
  "fdff::1",
  "fec0::1",
  "ff02::1",
  "ff0e::1",
  "100::1",
  "4000::1",
  "1fff::",
];

function someOctets(random: Random): number[] {
  const kind = random.below(10);
  if (kind < 2) return [127, ...(random.chance(0.5) ? [0, 0, 1] : [byte(random), byte(random), byte(random)])];
  if (kind < 3) return octetsOf(random.pick(metadata4));
  if (kind < 6) return [byte(random), byte(random), byte(random), byte(random)];
  const [first, last] = random.pick(closed4).map((text) => numberOf(octetsOf(text))) as [number, number];
  const place = random.pick([first, last, first - 1, last + 1, first + random.below(last - first + 1)]);
  return [24, 16, 8, 0].map((shift) => Math.floor(place / 2 ** shift) % 256).map((octet) => (octet + 256) % 256);
}

function someGroups(random: Random): number[] {
  const kind = random.below(10);
  if (kind < 4) return random.pick(carriers)(pairs(someOctets(random)), random);
  if (kind < 5) return groupsOf(random.pick(metadata6));
  if (kind < 6) return groupsOf(random.pick(local6));
  if (kind < 7) return someGroupsFrom(random, [0x2000 + random.below(0x2000)]);
  if (kind < 8) return someGroupsFrom(random, []);
  const [first, last] = random.pick(closed6).map(groupsOf) as [number[], number[]];
  if (random.chance(0.3)) return random.pick([first, last]);
  return first.map((group, index) => group + random.below(last[index]! - group + 1));
}

/** IPv6 that carries IPv4: mapped, compatible, translated, NAT64 (well known and local), 6to4, Teredo, ISATAP. */
const carriers: ((pair: [number, number], random: Random) => number[])[] = [
  (pair) => [0, 0, 0, 0, 0, 0xffff, ...pair],
  (pair) => [0, 0, 0, 0, 0, 0, ...pair],
  (pair) => [0, 0, 0, 0, 0xffff, 0, ...pair],
  (pair) => [0x64, 0xff9b, 0, 0, 0, 0, ...pair],
  (pair, random) => [0x64, 0xff9b, 1, word(random), 0, 0, ...pair],
  (pair, random) => [0x2002, ...pair, word(random), 0, 0, 0, word(random)],
  ([high, low], random) => [0x2001, 0, word(random), word(random), 0, 0, high ^ 0xffff, low ^ 0xffff],
  (pair) => [0xfe80, 0, 0, 0, 0, 0x5efe, ...pair],
];

/** Writes IPv4 as one to four numbers in any base, or with disguised digits, which only the dotted form survives. */
function spelled4(random: Random, octets: number[]): string {
  const dotted = octets.join(".");
  switch (random.below(6)) {
    case 0:
      return `${dotted}${".".repeat(random.below(4))}`;
    case 1:
      return disguised(random, dotted);
    default: {
      const parts = 1 + random.below(4);
      const numbers = [...octets.slice(0, parts - 1), numberOf(octets.slice(parts - 1))];
      const text = numbers.map((number) => inSomeBase(random, number)).join(".");
      return random.chance(0.1) ? disguised(random, text) : `${text}${random.chance(0.1) ? "." : ""}`;
    }
  }
}

function inSomeBase(random: Random, number: number): string {
  const zeros = "0".repeat(random.chance(0.2) ? random.below(6) : 0);
  if (random.chance(0.25)) return number === 0 && random.chance(0.5) ? "0x" : `0x${zeros}${number.toString(16)}`;
  if (random.chance(0.25)) return `0X${zeros}${number.toString(16).toUpperCase()}`;
  return random.chance(0.4) ? `0${zeros}${number.toString(8)}` : String(number);
}

/**
 * Disguises a host without changing its meaning to URL parsers: Unicode variants of its characters, and percent
 * encoding.
 */
export function disguised(random: Random, text: string): string {
  const share = random.pick([0.1, 0.5, 1]);
  return [...text].map((sign) => (random.chance(share) ? inOtherForm(random, sign) : sign)).join("");
}

function inOtherForm(random: Random, sign: string): string {
  const code = sign.charCodeAt(0);
  if (sign === ".") return random.pick(["。", "．", "｡", "%2e", "%E3%80%82"]);
  const wide = String.fromCharCode(code + 0xfee0);
  const circled = /[1-9]/.test(sign) ? String.fromCharCode(0x245f + Number(sign)) : wide;
  return random.pick([wide, circled, `%${code.toString(16)}`, `${sign}\u00ad`, encodeURIComponent(wide)]);
}

function spelled6(random: Random, groups: number[]): string {
  const tail = random.chance(0.3)
    ? [
        groups
          .slice(6)
          .flatMap((group) => [group >> 8, group & 255])
          .join("."),
      ]
    : [];
  const texts = groups.slice(0, tail.length > 0 ? 6 : 8).map((group) => {
    const hex = group.toString(16).padStart(random.chance(0.2) ? 4 : 1, "0");
    return random.chance(0.3) ? hex.toUpperCase() : hex;
  });
  const run = random.chance(0.7) ? longestZeros(groups.slice(0, texts.length)) : null;
  // Bun's URL cannot read `1:2:3:4::127.0.0.1`, where the colons stand for two groups; it refuses it.
  if (!run || (tail.length > 0 && run.end - run.start === 2)) return [...texts, ...tail].join(":");
  return `${texts.slice(0, run.start).join(":")}::${[...texts.slice(run.end), ...tail].join(":")}`;
}

function longestZeros(groups: number[]): { start: number; end: number } | null {
  let best = { start: 0, end: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (end < groups.length && groups[end] === 0) end++;
    if (end - start > best.end - best.start) best = { start, end };
  }
  return best.end > best.start ? best : null;
}

const byte = (random: Random): number => random.below(256);
const word = (random: Random): number => random.below(65_536);
const someGroupsFrom = (random: Random, lead: number[]): number[] =>
  Array.from({ length: 8 }, (_, index) => lead[index] ?? (random.chance(0.3) ? 0 : word(random)));
const octetsOf = (text: string): number[] => text.split(".").map(Number);
const numberOf = (octets: number[]): number => octets.reduce((sum, octet) => sum * 256 + octet, 0);
const pairs = ([a, b, c, d]: number[]): [number, number] => [a! * 256 + b!, c! * 256 + d!];

function groupsOf(text: string): number[] {
  const [head = [], tail = []] = text.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
