// Our own parser, because ipaddr.js takes `::8.8.8.8` for the public `::ffff:8.8.8.8`, and accepts octal and hex within
// IPv6.

/** Parsed address: its number decides, never its spelling. */
export type IpAddress = { family: 4 | 6; value: bigint };
/** Network: every address whose first `prefix` bits equal those of `value`. */
export type Cidr = IpAddress & { prefix: number };

/** True for addresses that the public internet routes. */
export function isPublic(address: IpAddress): boolean {
  const embedding = embeddingOf(address);
  if (embedding) return embedding.reachable && isPublic(extract(embedding, address));
  if (isCloudMetadata(address)) return false;
  if (address.family === 4) return !isIn(address, forbidden4);
  return contains(globalUnicast, address) && !isIn(address, forbidden6);
}

/** True for this machine itself, in IPv4, IPv6 and IPv4-mapped form. */
export const isLoopback = (address: IpAddress): boolean => isIn(unmapped(address), loopback);

/**
 * True for the unspecified address, which listeners bind to for all addresses and which connections take for this
 * machine.
 */
export const isUnspecified = (address: IpAddress): boolean => unmapped(address).value === 0n;

/** True if both reach the same machine, also if one is the IPv4-mapped form of the other. */
export function isSame(one: IpAddress, other: IpAddress): boolean {
  const [a, b] = [unmapped(one), unmapped(other)];
  return a.family === b.family && a.value === b.value;
}

/** True if the network contains a loopback address. */
export const hasLoopback = (network: Cidr): boolean => {
  const plain = unmappedNetwork(network);
  return loopback.some((each) => contains(plain, each) || contains(each, plain));
};

/** True for an address at which clouds hand out credentials, also if a translation prefix wraps it. */
export function isCloudMetadata(address: IpAddress): boolean {
  const embedding = embeddingOf(address);
  return isIn(address, cloudMetadata) || (embedding !== undefined && isIn(extract(embedding, address), cloudMetadata));
}

/**
 * True if the network contains the address. Both count as what they reach: a mapped address is the IPv4 one, a network
 * of mapped addresses is one of IPv4, and a wider IPv6 network (`::/1`) contains no IPv4 address.
 */
export const networkContains = (network: Cidr, address: IpAddress): boolean =>
  contains(unmappedNetwork(network), unmapped(address));

/** Returns the IPv4 network that a network of IPv4-mapped addresses reaches; any other network unchanged. */
export const unmappedNetwork = (network: Cidr): Cidr =>
  network.prefix >= mapped.network.prefix && contains(mapped.network, network)
    ? { ...extract(mapped, network), prefix: network.prefix - mapped.network.prefix }
    : network;

/** Parses dotted-decimal IPv4 or IPv6. Null for anything else, including zone ids, octal and shortened forms. */
export function parseAddress(text: string): IpAddress | null {
  const value = text.includes(":") ? parse6(text) : parse4(text);
  return value === null ? null : { family: text.includes(":") ? 6 : 4, value };
}

/** Parses `address/prefix`; null for anything else. */
export function parseCidr(text: string): Cidr | null {
  const [, base, length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = base === undefined ? null : parseAddress(base);
  if (!address || Number(length) > bits(address)) return null;
  return { ...address, prefix: Number(length) };
}

function parse4(text: string): bigint | null {
  // No leading zeros: some parsers take 010.0.0.1 for 8.0.0.1, so two parties would disagree on the address.
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) return null;
  const octets = text.split(".").map(Number);
  if (octets.some((octet) => octet > 255)) return null;
  return BigInt(octets.reduce((value, octet) => value * 256 + octet, 0));
}

function parse6(text: string): bigint | null {
  const halves = withHexTail(text)?.split("::");
  if (!halves || halves.length > 2) return null;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return BigInt(`0x${groups.map((group) => group.padStart(4, "0")).join("")}`);
}

/** Converts a dotted tail to hex: `::ffff:10.0.0.1` → `::ffff:a00:1`. */
function withHexTail(text: string): string | null {
  if (!text.includes(".")) return text;
  const start = text.lastIndexOf(":") + 1;
  const value = parse4(text.slice(start));
  if (value === null) return null;
  return `${text.slice(0, start)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

const bits = ({ family }: { family: 4 | 6 }): number => (family === 4 ? 32 : 128);

function contains(network: Cidr, address: IpAddress): boolean {
  if (network.family !== address.family) return false;
  const rest = BigInt(bits(network) - network.prefix);
  return network.value >> rest === address.value >> rest;
}

const isIn = (address: IpAddress, networks: readonly Cidr[]): boolean =>
  networks.some((network) => contains(network, address));

function network(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`Not a network: ${text}`);
  return parsed;
}

// IANA's special-purpose registries, multicast, and the reserved space above it.
const forbidden4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
].map(network);

// Only global unicast is open in IPv6, so unique-local, link-local, multicast and future ranges need no entry.
const globalUnicast = network("2000::/3");
const forbidden6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48"].map(network);

const loopback = ["127.0.0.0/8", "::1/128"].map(network);

// Credentials of the machine's own cloud role. 168.63.129.16 looks public, but inside Azure it is the host.
const cloudMetadata = [
  "169.254.169.254/32",
  "169.254.170.2/32",
  "169.254.170.23/32",
  "169.254.42.42/32",
  "169.254.0.23/32",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "fd00:ec2::254/128",
  "fd00:ec2::23/128",
  "fd20:ce::254/128",
  "fd00:42::42/128",
  "fe80::a9fe:a9fe/128",
].map(network);

/** IPv6 space that embeds an IPv4 address, `shift` bits from its end. */
type Embedding = { network: Cidr; shift: bigint; inverted: boolean; reachable: boolean };

// Only mapped addresses and the well-known NAT64 prefix lead exactly to the IPv4 address. The others are tunnels and
// translators with unknown ends: never reachable, but unwrapped in order to recognise metadata addresses in them.
const mapped: Embedding = { network: network("::ffff:0:0/96"), shift: 0n, inverted: false, reachable: true };
const embeddings: readonly Embedding[] = [
  mapped,
  { network: network("64:ff9b::/96"), shift: 0n, inverted: false, reachable: true },
  { network: network("64:ff9b:1::/48"), shift: 0n, inverted: false, reachable: false },
  { network: network("::ffff:0:0:0/96"), shift: 0n, inverted: false, reachable: false },
  { network: network("::/96"), shift: 0n, inverted: false, reachable: false },
  { network: network("2002::/16"), shift: 80n, inverted: false, reachable: false },
  { network: network("2001::/32"), shift: 0n, inverted: true, reachable: false },
];

const embeddingOf = (address: IpAddress): Embedding | undefined =>
  embeddings.find((embedding) => contains(embedding.network, address));

function extract({ shift, inverted }: Embedding, { value }: IpAddress): IpAddress {
  const low = (value >> shift) & 0xffff_ffffn;
  return { family: 4, value: inverted ? low ^ 0xffff_ffffn : low };
}

const unmapped = (address: IpAddress): IpAddress =>
  contains(mapped.network, address) ? extract(mapped, address) : address;

/** True if the host is this machine, by name or by number. */
export function isOwnHost(host: string): boolean {
  const address = parseAddress(host.replace(/^\[|\]$/g, ""));
  return host === "localhost" || (address !== null && isLoopback(address));
}
