import { type Detector, verifiedDetector } from "./detectors.ts";
import { compile } from "./pattern/pattern.ts";
import type { Span } from "./span.ts";

// Characters that always end an address: blanks, controls, and quotes around it.
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
  const suffixes = allowed.flatMap((host) => (host?.startsWith(".") ? [host] : []));
  const allows = (written: string): boolean => {
    if (exact.has(written)) return true; // Fast path for the usual spelling.
    const host = normalHost(written);
    return host !== null && (exact.has(host) || suffixes.some((suffix) => host.endsWith(suffix)));
  };
  return verifiedDetector(
    compile(candidate),
    (text, from) => forbiddenUrls(text, from, allows).spans,
    (partialText, from) => forbiddenUrls(partialText, from, allows, true),
  );
}

/** Normalizes a host as a browser would (lower case, IDN, numbers, no trailing dot); null if it is invalid. */
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
 * Checks every position from `from` on where an address may begin, also within another. In a streamed text, everything
 * from `decided` on depends on the text that follows.
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

/** Returns the position behind all characters between the start of an address and its host. */
function behindMark(text: string, at: number): number {
  let end = at;
  while (end < text.length && /[:/\\]/.test(text.charAt(end))) end++;
  return end;
}

/** Returns the position from which a scheme, or the first of several slashes, before `at` has to be read again. */
function openAt(text: string, at: number, floor: number): number {
  let from = Math.max(floor, at - schemeMax);
  while (from > floor && /[/\\]/.test(text.charAt(from - 1))) from--;
  return from;
}

interface Url {
  start: number;
  /** Position of the host, or of the text in its place. */
  authority: number;
  /** True if it has no host because it is a script or a data document. */
  isScript: boolean;
  /** True if all hosts that a reader may find in it are allowed. */
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
  // For these schemes browsers also accept one slash, none, or backslashes.
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

// Characters that end a host in prose and in Markdown. A browser would accept some of them in a name.
const delimiter =
  /[()[\]{}|^,;:*!$&'~=@\u2018-\u201f\u2026\u3001\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]/;
const trailing = /[)\]}.,;:!?*_'~\u2019\u201d\u2026\u3001\u3002\u3009-\u3011\uff01\uff09\uff0c\uff1b\uff1f]/;

/**
 * Returns the hosts that different readers find: some end it at the first character that no name has, others take all
 * before the last @ as credentials. Empty: no host. Null: too long.
 */
function hostsAt(text: string, from: number): string[] | null {
  const length = text.slice(from, from + authorityMax).search(/[/\\?#]/);
  if (length < 0 && text.length - from > authorityMax) return null;
  const whole = length < 0 ? withoutEnd(text.slice(from), trailing) : text.slice(from, from + length);
  const hosts: string[] = [];
  const short = whole.startsWith("[") ? whole.slice(0, whole.indexOf("]") + 1 || whole.length) : upTo(delimiter, whole);
  const rest = whole.slice(short.length);
  // Every reader parses plain credentials alike.
  if (!/^(?::[\w.~%+-]*)?@/.test(rest)) hosts.push(withoutEnd(short, /[._]/));
  if (/[@.]/.test(withoutEnd(rest, trailing))) hosts.push(whole.slice(whole.lastIndexOf("@") + 1).replace(/:\d*$/, ""));
  return hosts.filter((host) => host !== "");
}

function upTo(sign: RegExp, text: string): string {
  const at = text.search(sign);
  return at < 0 ? text : text.slice(0, at);
}

/** Returns the index of the bracket that closes the Markdown link around an address, or the end of the text. */
function closingBracket(text: string, start: number): number {
  let [open, end] = [0, start];
  for (; end < text.length; end++) {
    if (text[end] === "(") open++;
    else if (text[end] === ")" && open-- === 0) break;
  }
  return end;
}

/** Returns the end of an address without trailing punctuation. */
function urlEnd(text: string, { start, authority }: Url, bracket: number): number {
  const trimmed = start + withoutEnd(text.slice(start, bracket), /[\]}.,;:!?*_'~]/).length;
  return Math.max(trimmed, Math.min(authority + 1, text.length));
}

/** Removes these characters from the end of a text. A pattern would take quadratic time for it. */
function withoutEnd(text: string, sign: RegExp): string {
  let end = text.length;
  while (end > 0 && sign.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
