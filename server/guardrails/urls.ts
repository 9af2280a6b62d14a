import { type Detector, verified } from "./detectors.ts";
import { compile } from "./pattern/pattern.ts";
import type { Span } from "./span.ts";

// Where an address ends wherever one may stand: blanks, controls, and the signs around it.
const outside = String.raw`"<>\x60\x00-\x20\x7f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`;
const before = "[!#-;=?-_a-~]*";
const candidate = String.raw`(?i)${before}(?:[a-z0-9+.-]:|[/\\]{2}|www\.)[^${outside}]+`;

const known = /^(?:https?|wss?|ftp)$/i;
const authorityMax = 2048;
const schemeMax = 40;

/** Finds the addresses in a text whose hosts are not on the list. */
export function createUrlDetector(hosts: readonly string[]): Detector {
  const allowed = hosts.map((host) => (host.startsWith("*.") ? `.${normalHost(host.slice(2))}` : normalHost(host)));
  const exact = new Set(allowed);
  const suffixes = allowed.filter((host) => host?.startsWith("."));
  const allows = (written: string): boolean => {
    if (exact.has(written)) return true; // As most are written.
    const host = normalHost(written);
    return host !== null && (exact.has(host) || suffixes.some((suffix) => host.endsWith(suffix!)));
  };
  return verified(
    compile(candidate),
    (text, from) => forbiddenUrls(text, from, allows).spans,
    (begun, from) => forbiddenUrls(begun, from, allows, true),
  );
}

/** A host as a browser would look it up, or null: lower case, IDN and numbers as they go out, no dot behind. */
export function normalHost(written: string): string | null {
  try {
    const { hostname, host } = new URL(`http://${written}/`);
    if (host !== hostname) return null;
    return withoutEnd(hostname, /\./) || null;
  } catch {
    return null;
  }
}

const marks = /:|[/\\]{2,}|www\./gi;

/**
 * Looks at every place from `from` on where an address may begin, also one within another. Of a text that goes on, what
 * more of it could make another address is left: it is all before `decided`.
 */
function forbiddenUrls(
  text: string,
  from: number,
  allows: (host: string) => boolean,
  goesOn = false,
): { spans: Span[]; decided: number } {
  const spans: Span[] = [];
  let floor = from;
  const finder = new RegExp(marks);
  finder.lastIndex = from;
  for (let mark = finder.exec(text); mark; mark = finder.exec(text)) {
    if (goesOn && behindMark(text, mark.index) + 2 * authorityMax > text.length)
      return { spans, decided: openAt(text, mark.index, floor) };
    const url = urlAt(text, mark.index, mark[0], floor);
    if (!url) continue;
    if (url.isScript || !url.hosts(allows)) {
      const bracket = closingBracket(text, url.start);
      if (goesOn && bracket === text.length) return { spans, decided: url.start };
      const end = urlEnd(text, url, bracket);
      spans.push([url.start, end]);
      finder.lastIndex = end;
    } else finder.lastIndex = Math.max(url.authority, finder.lastIndex);
    floor = finder.lastIndex;
  }
  return { spans, decided: goesOn ? openAt(text, text.length, floor) : text.length };
}

/** Behind all that an address may have between its beginning and its host. */
function behindMark(text: string, at: number): number {
  let end = at;
  while (end < text.length && /[:/\\]/.test(text[end]!)) end++;
  return end;
}

/** From where on a text is read again for what may begin before `at`: a scheme, and no slash but the first of several. */
function openAt(text: string, at: number, floor: number): number {
  let from = Math.max(floor, at - schemeMax);
  while (from > floor && /[/\\]/.test(text[from - 1]!)) from--;
  return from;
}

interface Url {
  start: number;
  /** Where the host, or whatever stands in its place, begins. */
  authority: number;
  /** It has no host: it is a program or a document of its own. */
  isScript: boolean;
  /** Whether all hosts that a reader may find in it pass. */
  hosts: (allows: (host: string) => boolean) => boolean;
}

function urlAt(text: string, at: number, mark: string, floor: number): Url | null {
  if (mark === ":") return withScheme(text, at, floor);
  const isWww = /^w/i.test(mark);
  if (/[\w.~%-]/.test(text.slice(Math.max(0, at - 1), at))) return null; // Within a path or a word.
  const authority = isWww ? at : at + mark.length;
  const hosts = hostsAt(text, authority);
  if (!isWww && !hosts?.some((host) => /[.\u3002\uff0e\uff61]|^localhost$|^\[|^\d+$|^0x/i.test(host))) return null;
  return toUrl(at, authority, hosts);
}

function withScheme(text: string, colon: number, floor: number): Url | null {
  const scheme = /[a-z][a-z0-9+.-]*$/i.exec(text.slice(Math.max(floor, colon - schemeMax), colon))?.[0];
  if (!scheme) return null;
  const start = colon - scheme.length;
  const behind = text.slice(colon + 1, colon + 40);
  if (/^(?:java|vb)script$/i.test(scheme) || (/^data$/i.test(scheme) && /^[a-z]+\//i.test(behind)))
    return { start, authority: colon + 1, isScript: true, hosts: () => false };
  // Browsers take one slash, none, or backslashes for these schemes, too.
  if (
    !known.test(scheme) &&
    !behind.startsWith("//") &&
    !(/(?:https?|wss?|ftp)$/i.test(scheme) && /^[/\\]{2}/.test(behind))
  )
    return null;
  let authority = colon + 1;
  while (text[authority] === "/" || text[authority] === "\\") authority++;
  return toUrl(start, authority, hostsAt(text, authority));
}

const toUrl = (start: number, authority: number, hosts: string[] | null): Url | null =>
  hosts?.length === 0 ? null : { start, authority, isScript: false, hosts: (allows) => hosts?.every(allows) ?? false };

// What ends a host in prose and in Markdown. A browser would take some of them for a part of its name.
const delimiter =
  /[()[\]{}|^,;:*!$&'~=@\u2018-\u201f\u2026\u3001\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]/;
const trailing = /[)\]}.,;:!?*_'~\u2019\u201d\u2026\u3001\u3002\u3009-\u3011\uff01\uff09\uff0c\uff1b\uff1f]/;

/**
 * The hosts that different readers find: one ends it at the first sign that cannot be in a name, another takes everything
 * before the last @ for a user's name. Empty: there is none. Null: longer than any.
 */
function hostsAt(text: string, from: number): string[] | null {
  const length = text.slice(from, from + authorityMax).search(/[/\\?#]/);
  if (length < 0 && text.length - from > authorityMax) return null;
  const whole = length < 0 ? withoutEnd(text.slice(from), trailing) : text.slice(from, from + length);
  const hosts: string[] = [];
  const short = whole.startsWith("[") ? whole.slice(0, whole.indexOf("]") + 1 || whole.length) : upTo(delimiter, whole);
  const rest = whole.slice(short.length);
  // A user's name and password of plain signs are what everybody takes them for.
  if (!/^(?::[\w.~%+-]*)?@/.test(rest)) hosts.push(withoutEnd(short, /[._]/));
  if (/[@.]/.test(withoutEnd(rest, trailing))) hosts.push(whole.slice(whole.lastIndexOf("@") + 1).replace(/:\d*$/, ""));
  return hosts.filter((host) => host !== "");
}

function upTo(sign: RegExp, text: string): string {
  const at = text.search(sign);
  return at < 0 ? text : text.slice(0, at);
}

/** The index of the bracket that closes the Markdown link around an address; without one, the end of the text. */
function closingBracket(text: string, start: number): number {
  let [open, end] = [0, start];
  for (; end < text.length; end++) {
    if (text[end] === "(") open++;
    else if (text[end] === ")" && open-- === 0) break;
  }
  return end;
}

/** Not the full stop of a sentence. */
function urlEnd(text: string, { start, authority }: Url, bracket: number): number {
  const trimmed = start + withoutEnd(text.slice(start, bracket), /[\]}.,;:!?*_'~]/).length;
  return Math.max(trimmed, Math.min(authority + 1, text.length));
}

/** A text without the signs that it ends with. A pattern would look at each of many from each of them. */
function withoutEnd(text: string, sign: RegExp): string {
  let end = text.length;
  while (end > 0 && sign.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
