import { anyAddress, disguised } from "./address-spellings.ts";
import type { Random } from "./random.ts";

/** URL composed of parts whose meaning is known. */
export interface HostileUrl {
  url: string;
  /** True if the guard with its default rules lets the URL pass. */
  open: boolean;
  /** True if only the address is a reason to refuse the URL. */
  byAddress: boolean;
  /** The name resolves to an internal address from the second lookup on. */
  rebinds: boolean;
  /** The URL means the same as the `Location` of a redirect. */
  redirectable: boolean;
}

type Host = { text: string; open: boolean; reason: "address" | "other"; rebinds?: boolean };

/** Names and the results of their successive lookups; the last result stays. */
type Zone = Map<string, (readonly string[] | Error)[]>;

const publicAddresses = ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::808:808"];
const inside = [
  "127.0.0.1",
  "::1",
  "127.0.0.2",
  "0.0.0.0",
  "10.0.0.5",
  "169.254.169.254",
  "fd00::1",
  "::ffff:127.0.0.1",
];
const unreadable = ["0177.0.0.1", "127.1", "fe80::1%lo", "2130706433", "localhost", "", "[::1]", "93.184.215.14 "];

/**
 * Creates URLs, and answers the lookups of their names; `names: false` creates URLs that need no lookup. `port` is the
 * canaries' port.
 */
export function createHostileUrls(random: Random, port: number, { names = true } = {}) {
  const zone: Zone = new Map([
    ["localhost", [["127.0.0.1", "::1"]]],
    ["metadata.google.internal", [["169.254.169.254"]]],
  ]);

  /** Resolves every name without an entry to this machine. */
  async function resolve(host: string): Promise<readonly string[]> {
    const answers = zone.get(host);
    const answer = answers && answers.length > 1 ? answers.shift()! : answers?.[0];
    if (answer instanceof Error) throw answer;
    return answer ?? ["127.0.0.1", "::1"];
  }

  function next(): HostileUrl {
    if (random.chance(0.03)) return closed(random.pick(names ? [...junk, ...junkNames] : junk)(port));
    const [scheme, schemeIsOpen] = draw(random, schemes);
    const [separator, plainSeparator] = draw(random, separators);
    const [user, userIsOpen] = draw(random, users);
    const host = !names || random.chance(0.6) ? literal(random) : name(random, zone);
    const [portText, portIsOpen] = draw(random, ports(port));
    const path = random.pick(paths);
    const url = disturbed(
      random,
      `${scheme}${schemeIsOpen || scheme === "http" ? separator : "://"}${user}${host.text}${portText}${path}`,
    );
    const others = schemeIsOpen && userIsOpen && portIsOpen;
    return {
      url,
      open: others && host.open,
      byAddress: others && !host.open && host.reason === "address",
      rebinds: host.rebinds ?? false,
      redirectable: plainSeparator && /^[\x21-\x7e]+$/.test(url),
    };
  }

  return { next, resolve };
}

const closed = (url: string): HostileUrl => ({
  url,
  open: false,
  byAddress: false,
  rebinds: false,
  redirectable: false,
});

/** Texts with the weight of each, and whether each is harmless. */
type Drawn = readonly (readonly [text: string, weight: number, open: boolean])[];

const schemes: Drawn = [
  ["https", 40, true],
  ["HTTPS", 3, true],
  ["hTtPs", 3, true],
  ["http", 8, false],
  ["ftp", 1, false],
  ["ws", 1, false],
  ["wss", 1, false],
  ["file", 1, false],
  ["gopher", 1, false],
  ["https+unix", 1, false],
  ["blob:https", 1, false],
  ["view-source:https", 1, false],
];

// All of them mean `://` to parsers of web URLs, and to other parsers they do not.
const separators: Drawn = [
  ["://", 20, true],
  [":/", 1, false],
  [":", 1, false],
  [":\\\\", 1, false],
  [":///", 1, false],
  [":/\\/\\", 1, false],
];

const users: Drawn = [
  ["", 40, true],
  ["@", 1, true],
  [":@", 1, true],
  ["user@", 1, false],
  ["user:hush@", 1, false],
  [":hush@", 1, false],
  ["public.test%40x@", 1, false],
  ["1.1.1.1@", 1, false],
  ["1.1.1.1:80@1.1.1.1@", 1, false],
];

const ports = (canary: number): Drawn => [
  [`:${canary}`, 60, true],
  [`:00${canary}`, 2, true],
  ["", 4, true],
  [":", 1, true],
  [":443", 1, true],
  [":8443", 1, true],
  [":0", 1, false],
  [":22", 1, false],
  [":25", 1, false],
  [":6379", 1, true],
  [":6667", 1, false],
  [":65536", 1, false],
  [`:${canary + 65_536}`, 1, false],
  [":-1", 1, false],
  [`:${canary}:443`, 1, false],
];

const paths = [
  "",
  "/",
  "/a/../../b",
  "/%2e%2e/",
  "?url=https://1.1.1.1/",
  "#@1.1.1.1",
  "/@1.1.1.1",
  "\\@1.1.1.1",
  "?@1.1.1.1",
  "#1.1.1.1:443/",
  "/\\1.1.1.1",
  "//1.1.1.1/",
  "/%00",
  "/%0d%0aHost:%201.1.1.1",
  "?%0d%0a",
  "/é",
  "/;@1.1.1.1",
];

function literal(random: Random): Host {
  const { host, open } = anyAddress(random);
  if (host.startsWith("[") && random.chance(0.05))
    return {
      text: host.replace("]", random.pick(["%25lo]", "%lo]", "%251]", "", "]]", "].test"])),
      open: false,
      reason: "other",
    };
  return { text: host, open, reason: "address" };
}

function name(random: Random, zone: Zone): Host {
  if (random.chance(0.1)) return { text: spelledName(random, random.pick(known)), open: false, reason: "address" };
  const [label, ascii] = random.chance(0.1) ? ["bücher", "xn--bcher-kva"] : ["host", "host"];
  const rest = `.${zone.size}.${random.pick(["test", "example.test", "local", "internal", `${"long-label.".repeat(20)}test`])}`;
  const kind = random.pick(kinds);
  const { answers, open, reason } = kind(random);
  zone.set(`${ascii}${rest}`, answers);
  const rebinds = open && answers.length > 1;
  return { text: label === ascii ? spelledName(random, `${label}${rest}`) : `${label}${rest}`, open, reason, rebinds };
}

const known = ["localhost", "metadata.google.internal"];

type Lookup = { answers: (readonly string[] | Error)[]; open: boolean; reason: "address" | "other" };
const refused = (...answers: Lookup["answers"]): Lookup => ({ answers, open: false, reason: "address" });

/** Possible lookup results of a name. The guard sees an alias only by its addresses. */
const kinds: ((random: Random) => Lookup)[] = [
  (random) => ({ answers: [[random.pick(publicAddresses)]], open: true, reason: "address" }),
  (random) => ({ answers: [[...publicAddresses], [random.pick(inside)]], open: true, reason: "address" }),
  (random) => refused([random.pick(inside)]),
  (random) => refused([random.pick(inside), random.pick(publicAddresses)]),
  (random) => refused([...publicAddresses, ...publicAddresses, random.pick(inside)]),
  (random) => refused([random.pick(publicAddresses), random.pick(unreadable)]),
  (random) => refused([random.pick(unreadable)]),
  () => ({ answers: [[]], open: false, reason: "other" }),
  () => ({ answers: [new Error("SERVFAIL from 10.0.0.53")], open: false, reason: "other" }),
];

function spelledName(random: Random, text: string): string {
  const cased = random.chance(0.2) ? text.toUpperCase() : text;
  const shown = random.chance(0.2) ? disguised(random, cased) : cased;
  return `${shown}${random.chance(0.15) ? ".".repeat(1 + random.below(3)) : ""}`;
}

/** Inserts characters that parsers of web URLs drop, within and around the URL. */
function disturbed(random: Random, url: string): string {
  if (random.chance(0.88)) return url;
  const at = 1 + random.below(url.length);
  const inner = random.pick(["\t", "\n", "\r", "\r\n\t"]);
  const around = random.pick(["", " ", "\u0000", "\u001f \t"]);
  return `${around}${url.slice(0, at)}${inner}${url.slice(at)}${around}`;
}

/** Invalid addresses, and addresses on which parsers disagree. */
const junk: ((port: number) => string)[] = [
  () => "",
  () => "https",
  () => "//127.0.0.1/",
  () => "https://",
  () => "https://./",
  () => "https://.../",
  (port) => `https://[::1]${port}/`,
  (port) => `https://[127.0.0.1]:${port}/`,
  (port) => `https://127.0.0.1.1:${port}/`,
  (port) => `https://127.0.0.256:${port}/`,
  (port) => `https://4294967296:${port}/`,
  (port) => `https://127.0.0.1%20:${port}/`,
  (port) => `https://xn--a:${port}/`,
  (port) => `https://[fe80::1%25lo]:${port}/`,
  (port) => `https://%5b::1%5d:${port}/`,
  (port) => `https:${port}`,
  (port) => `data:text/html,<script src=https://127.0.0.1:${port}>`,
];

/** Invalid addresses that contain names. */
const junkNames: typeof junk = [
  (port) => `https://0x7f.1..:${port}/`,
  (port) => `https://127.0.0.1;.test:${port}/`,
  (port) => `https://127.0.0.1%00.test:${port}/`,
  (port) => `https://127.0.0.1%2f.test:${port}/`,
  (port) => `https://127.0.0.1 .test:${port}/`,
  (port) => `https://a\u200db:${port}/`,
  (port) => `https://${"a".repeat(70_000)}:${port}/`,
  (port) => `https://${"a.".repeat(30_000)}:${port}/`,
];

function draw(random: Random, table: Drawn): readonly [string, boolean] {
  let left = random.below(table.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [text, weight, open] of table) {
    left -= weight;
    if (left < 0) return [text, open];
  }
  throw new Error("The weights changed.");
}
