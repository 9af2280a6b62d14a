import type { Random } from "./random.ts";

/** Operator's rules, a URL, the lookup of its name, and whether the rules open it. */
interface RuleCase {
  allow: string[];
  url: string;
  answers: string[];
  open: boolean;
}

/**
 * Returns a rule, and a URL that it matches or nearly matches. Without the rule each URL is refused for its address.
 */
export const anyRule = (random: Random): RuleCase =>
  random.pick([hostRule, suffixRule, network4, network6, wide])(random);

const inside = ["10.1.2.3", "127.0.0.1", "::1", "fd12::5", "::ffff:192.168.0.1"];
const metadata = ["169.254.169.254", "fd00:ec2::254", "::ffff:100.100.100.200", "64:ff9b::a9fe:a9fe"];

/** Host rules never open the metadata addresses at which clouds hand out credentials. */
function named(random: Random, rule: string, url: string, names: boolean): RuleCase {
  const isMetadata = names && random.chance(0.1);
  return { allow: [rule], url, answers: [random.pick(isMetadata ? metadata : inside)], open: names && !isMetadata };
}

function hostRule(random: Random): RuleCase {
  const host = `erp${random.below(1000)}.corp.test`;
  const port = 20_000 + random.below(900);
  const withPort = random.chance(0.6);
  const [text, isHost] = random.pick([
    [host, true],
    [host.toUpperCase(), true],
    [`${host}.`, true],
    [`a.${host}`, false],
    [`x${host}`, false],
    [host.slice(1), false],
    [`${host}.evil.test`, false],
    [host.replace(".", "-"), false],
    ["corp.test", false],
  ] as const);
  const asked = random.chance(0.7) ? port : port + 1;
  const rule = withPort ? `${host}:${port}` : host;
  return named(random, rule, `https://${text}:${asked}/`, isHost && (!withPort || asked === port));
}

function suffixRule(random: Random): RuleCase {
  const suffix = `svc${random.below(1000)}.corp.test`;
  const [text, isBelow] = random.pick([
    [`a.${suffix}`, true],
    [`a.b-c.${suffix}`, true],
    [`A.${suffix}.`, true],
    [suffix, false],
    [`a${suffix}`, false],
    [`a.${suffix}.evil.test`, false],
    [`a.${suffix.slice(1)}`, false],
    ["corp.test", false],
  ] as const);
  const [port, asked] = random.pick([
    ["", ""],
    [":8443", ":8443"],
    [":8443", ""],
    ["", ":9443"],
  ] as const);
  return named(random, `*.${suffix}${port}`, `https://${text}${asked}/`, isBelow && (port === "" || port === asked));
}

/** Returns an IPv4 network, plain or mapped, and an address in it or one bit outside, in any spelling. */
function network4(random: Random): RuleCase {
  const prefix = 9 + random.below(24);
  const base = [10, random.below(256), random.below(256), random.below(256)];
  const [bits, isIn] = inOrBeside(random, base.map((octet) => octet.toString(2).padStart(8, "0")).join(""), prefix);
  const address = bits.match(/.{8}/g)!.map((octet) => Number.parseInt(octet, 2));
  const [text, isSame] = random.pick([
    [address.join("."), true],
    [`::ffff:${address.join(".")}`, true],
    [`64:ff9b::${address.join(".")}`, false],
    [`::${address.join(".")}`, false],
  ] as const);
  const rule = random.chance(0.3) ? `::ffff:${base.join(".")}/${prefix + 96}` : `${base.join(".")}/${prefix}`;
  return { allow: [rule], ...asked(random, text), open: isIn && isSame };
}

function network6(random: Random): RuleCase {
  const prefix = 9 + random.below(120);
  const base = ["fd", ...Array.from({ length: 15 }, () => random.below(256).toString(16).padStart(2, "0"))].join("");
  const toBits = [...base].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
  const [bits, isIn] = inOrBeside(random, toBits, prefix);
  const groups = (text: string) => text.match(/.{4}/g)!.join(":");
  const address = bits
    .match(/.{4}/g)!
    .map((digit) => Number.parseInt(digit, 2).toString(16))
    .join("");
  return { allow: [`${groups(base)}/${prefix}`], ...asked(random, groups(address)), open: isIn };
}

/** An IPv6 range that contains the mapped addresses does not open IPv4. */
function wide(random: Random): RuleCase {
  const rule = random.pick(["::/1", "::/8", "::/64", "::/80", "::/95", "::fffe:0:0/95"]);
  const address = random.pick(["127.0.0.1", "10.0.0.5", "169.254.169.254"]);
  return { allow: [rule], ...asked(random, random.pick([address, `::ffff:${address}`])), open: false };
}

/** Returns the bits with the same prefix, or with one bit of it flipped, and a random rest. */
function inOrBeside(random: Random, base: string, prefix: number): readonly [bits: string, isIn: boolean] {
  const rest = [...base.slice(prefix)].map(() => random.below(2)).join("");
  if (random.chance(0.5)) return [base.slice(0, prefix) + rest, true];
  const at = 8 + random.below(prefix - 8); // The first 8 bits keep the address private.
  return [`${base.slice(0, at)}${base[at] === "0" ? "1" : "0"}${base.slice(at + 1, prefix)}${rest}`, false];
}

const asked = (random: Random, address: string): Pick<RuleCase, "url" | "answers"> => ({
  url: `https://${random.chance(0.5) ? "host.test" : address.includes(":") ? `[${address}]` : address}:8443/`,
  answers: [address],
});
