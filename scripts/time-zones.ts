import moment from "moment-timezone";
import type { PackedFiles } from "../server/lib/file-pack.ts";

/** A stretch of time with one clock offset. */
interface Stretch {
  /** Start in seconds; the first one has none. */
  from: number;
  /** Seconds east of Greenwich. */
  offset: number;
  abbreviation: string;
  isSummer: boolean;
}

/** Returns the time zone files (TZif, RFC 9636) of all zones in the IANA database. */
export const zoneFiles = (): PackedFiles =>
  Object.fromEntries(moment.tz.names().map((name) => [name, encodeZone(stretchesOf(name))]));

function stretchesOf(name: string): Stretch[] {
  const { abbrs, offsets, untils } = moment.tz.zone(name)!;
  const all = abbrs.map((abbreviation, at) => ({
    from: at === 0 ? Number.NEGATIVE_INFINITY : Math.round(untils[at - 1]! / 1000),
    offset: Math.round(-offsets[at]! * 60),
    abbreviation,
  }));
  return all.map((stretch, at) => ({ ...stretch, isSummer: isSummer(stretch, all[at - 1], all[at + 1]) }));
}

const day = 86_400;

/**
 * True for summer time, which the data does not mark: an offset that is ahead for less than most of a year, and then
 * goes back.
 */
function isSummer(
  it: Omit<Stretch, "isSummer">,
  before?: { offset: number },
  after?: { offset: number; from: number },
) {
  if (!before || !after) return false;
  return it.offset > before.offset && it.offset > after.offset && after.from - it.from < 300 * day;
}

function encodeZone(stretches: readonly Stretch[]): Uint8Array {
  const later = stretches.slice(1);
  const keyOf = ({ offset, isSummer, abbreviation }: Stretch) => `${offset} ${isSummer} ${abbreviation}`;
  const types = [...new Map(stretches.map((stretch) => [keyOf(stretch), stretch])).values()];
  const at = new Map(types.map((type, index) => [keyOf(type), index]));
  const text = [...new Set(types.map(({ abbreviation }) => `${abbreviation}\0`))].join("");
  const body = new DataView(new ArrayBuffer(later.length * 9 + types.length * 6));
  for (const [index, stretch] of later.entries()) {
    body.setBigInt64(index * 8, BigInt(stretch.from));
    body.setUint8(later.length * 8 + index, at.get(keyOf(stretch))!);
  }
  for (const [index, { offset, isSummer, abbreviation }] of types.entries()) {
    const start = later.length * 9 + index * 6;
    body.setInt32(start, offset);
    body.setUint8(start + 4, isSummer ? 1 : 0);
    body.setUint8(start + 5, `\0${text}`.indexOf(`\0${abbreviation}\0`));
  }
  // Readers of version two skip the block of version one, which is required and may be almost empty.
  const least = new Uint8Array(7);
  return Buffer.concat([
    header({ transitions: 0, types: 1, characters: 1 }),
    least,
    header({ transitions: later.length, types: types.length, characters: text.length }),
    new Uint8Array(body.buffer),
    Buffer.from(text, "latin1"),
    Buffer.from(`\n${ruleOf(stretches)}\n`, "latin1"),
  ]);
}

function header({ transitions, types, characters }: { transitions: number; types: number; characters: number }) {
  const bytes = new DataView(new ArrayBuffer(44));
  for (const [index, letter] of [..."TZif2"].entries()) bytes.setUint8(index, letter.charCodeAt(0));
  bytes.setUint32(32, transitions);
  bytes.setUint32(36, types);
  bytes.setUint32(40, characters);
  return new Uint8Array(bytes.buffer);
}

/** Returns the rule after the last stretch in POSIX format: fixed, or that of the preceding years. */
function ruleOf(stretches: readonly Stretch[]): string {
  const last = stretches.at(-1)!;
  const name = ({ abbreviation }: Stretch) =>
    /^[A-Za-z]{3,}$/.test(abbreviation) ? abbreviation : `<${abbreviation}>`;
  const fixed = `${name(last)}${clock(-last.offset)}`;
  const yearly = stretches.slice(-13);
  const [toSummer, toWinter] = [true, false].map((summer) => {
    const rules = yearly
      .slice(1)
      .flatMap((stretch, at) => (stretch.isSummer === summer ? [dayRules(stretch, yearly[at]!)] : []));
    return rules[0]?.find((rule) => rules.every((others) => others.includes(rule)));
  });
  if (last.from < Date.UTC(2037, 0) / 1000) return fixed;
  const summer = yearly.findLast(({ isSummer }) => isSummer);
  if (!toSummer || !toWinter || !summer) return "";
  const ahead = summer.offset - last.offset === 3600 ? "" : clock(-summer.offset);
  return `${fixed}${name(summer)}${ahead},${toSummer},${toWinter}`;
}

/** Returns the rules that match a change's day: the n-th such weekday of its month, or the last. */
function dayRules({ from }: Stretch, before: Stretch): string[] {
  const local = new Date((from + before.offset) * 1000);
  const time = local.getUTCHours() * 3600 + local.getUTCMinutes() * 60;
  const month = local.getUTCMonth() + 1;
  const nth = Math.ceil(local.getUTCDate() / 7);
  const isLast = local.getUTCDate() + 7 > new Date(Date.UTC(local.getUTCFullYear(), month, 0)).getUTCDate();
  const at = time === 7200 ? "" : `/${clock(time)}`;
  return [...(nth < 5 ? [nth] : []), ...(isLast ? [5] : [])].map(
    (week) => `M${month}.${week}.${local.getUTCDay()}${at}`,
  );
}

function clock(seconds: number): string {
  const [hours, minutes] = [Math.floor(Math.abs(seconds) / 3600), Math.floor((Math.abs(seconds) % 3600) / 60)];
  return `${seconds < 0 ? "-" : ""}${hours}${minutes ? `:${String(minutes).padStart(2, "0")}` : ""}`;
}
