/** An element of parsed Markdown: tag, safe attributes and children. */
interface Element {
  tag: string;
  href?: string;
  start?: number;
  children: Node[];
}
export type Node = string | Element;

const element = (tag: string, ...children: Node[]): Element => ({ tag, children });

/** Parses the Markdown that models write. HTML stays plain text, and images become links. */
export function parseMarkdown(text: string): Node[] {
  return blocks(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

// Nesting limit; deeper text, which only an attacker writes, stays plain.
const deepest = 8;

function blocks(lines: readonly string[], depth: number): Node[] {
  const found: Node[] = [];
  if (depth > deepest) return [element("p", lines.join("\n"))];
  for (let at = 0; at < lines.length; ) {
    const [node, next] = block(lines, at, depth);
    if (node) found.push(node);
    at = next;
  }
  return found;
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const heading = /^ {0,3}(#{1,6})\s+(.*)$/;
const rule = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const quote = /^ {0,3}> ?/;
const item = /^( *)(?:([-*+])|(\d{1,9})[.)])\s+/;
const divider = /^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$/;

/** Parses the block at line `at`. Returns it and the index of the line after it. */
function block(lines: readonly string[], at: number, depth: number): [Node | null, number] {
  const line = lines[at]!;
  if (line.trim() === "") return [null, at + 1];
  if (fence.test(line)) return code(lines, at);
  const [, marks, title] = heading.exec(line) ?? [];
  if (marks) return [element(`h${marks.length}`, ...inline(title!.trim().replace(/\s#+$/, "").trimEnd())), at + 1];
  if (rule.test(line)) return [element("hr"), at + 1];
  if (quote.test(line)) {
    const end = endOf(lines, at, (next) => quote.test(next));
    const inner = lines.slice(at, end).map((one) => one.replace(quote, ""));
    return [element("blockquote", ...blocks(inner, depth + 1)), end];
  }
  if (item.test(line)) return list(lines, at, depth);
  if (line.includes("|") && divider.test((lines[at + 1] ?? "").trim()) && lines[at + 1]!.includes("-"))
    return table(lines, at);
  const end = endOf(lines, at, (next, place) => place === at || (next.trim() !== "" && !begins(next)));
  return [element("p", ...inline(lines.slice(at, end).join("\n"))), end];
}

const begins = (line: string): boolean => [fence, heading, rule, quote, item].some((form) => form.test(line));

function endOf(lines: readonly string[], from: number, goesOn: (line: string, place: number) => boolean): number {
  let end = from;
  while (end < lines.length && goesOn(lines[end]!, end)) end++;
  return end;
}

/** Parses a code block. One that is still streaming ends with the text. */
function code(lines: readonly string[], at: number): [Node, number] {
  const marks = fence.exec(lines[at]!)![1]!;
  const isEnd = (line: string) => line.trim().startsWith(marks) && line.trim().replaceAll(marks[0]!, "") === "";
  const end = endOf(lines, at + 1, (line) => !isEnd(line));
  return [element("pre", element("code", lines.slice(at + 1, end).join("\n"))), end + 1];
}

function list(lines: readonly string[], at: number, depth: number): [Node, number] {
  const [, indent = "", , number] = item.exec(lines[at]!)!;
  const isOrdered = number !== undefined;
  const items: Element[] = [];
  let next = at;
  for (;;) {
    const match = item.exec(lines[next] ?? "");
    if (!match || match[1]!.length !== indent.length || (match[3] !== undefined) !== isOrdered) break;
    const width = match[0].length;
    const isInner = (line: string) => line.startsWith(" ".repeat(Math.min(width, indent.length + 2)));
    const end = endOf(lines, next + 1, (line, place) =>
      line.trim() === "" ? isInner(lines[place + 1] ?? "") : isInner(line) || !begins(line),
    );
    const inner = [lines[next]!.slice(width), ...lines.slice(next + 1, end).map((line) => outdented(line, width))];
    items.push(element("li", ...tight(blocks(inner, depth + 1))));
    next = end;
    if (lines[next]?.trim() === "" && item.test(lines[next + 1] ?? "")) next++;
  }
  const listNode = element(isOrdered ? "ol" : "ul", ...items);
  return [isOrdered ? { ...listNode, start: Number(number) } : listNode, next];
}

const outdented = (line: string, width: number): string => line.replace(new RegExp(`^ {0,${width}}`), "");

/** Unwraps the paragraphs of a list item. */
const tight = (nodes: Node[]): Node[] =>
  nodes.flatMap((node) => (typeof node !== "string" && node.tag === "p" ? node.children : [node]));

function table(lines: readonly string[], at: number): [Node, number] {
  const end = endOf(lines, at + 2, (line) => line.includes("|"));
  const row = (line: string, tag: string) =>
    element("tr", ...cells(line).map((cell) => element(tag, ...inline(cell.trim()))));
  const body = lines.slice(at + 2, end).map((line) => row(line, "td"));
  return [element("table", element("thead", row(lines[at]!, "th")), element("tbody", ...body)), end];
}

const cells = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|");

/** An inline format with equal marks at both ends and nested text. */
interface Pair {
  mark: string;
  tag: string;
  /** True if the next such mark must be the closing one. */
  isNear?: true;
  /** True if the marks may not stand inside a word. */
  isApart?: true;
}

const pairs: readonly Pair[] = [
  { mark: "**", tag: "strong" },
  { mark: "__", tag: "strong", isApart: true },
  { mark: "~~", tag: "del" },
  { mark: "*", tag: "em", isNear: true },
  { mark: "_", tag: "em", isNear: true, isApart: true },
];

const escaped = /\\([\\`*_{}[\]()#+\-.!~|<>])/y;
const linked = /!?\[([^\]\n]{0,500})\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)/y;
const address = /\bhttps?:\/\/[^\s<>()]*[^\s<>().,;:!?"']/y;
const mayBegin = /[\\`![h*_~]/g;

/** Longest formatted text; longer text is shown plain. */
const longest = 8000;

/**
 * Parses inline formats in one pass: marks without an end are remembered in `endless`, so that no text takes quadratic
 * time.
 */
function inline(text: string): Node[] {
  if (text.length > longest) return [text];
  const found: Node[] = [];
  const endless = new Set<string>();
  let textStart = 0;
  for (let at = nextFrom(text, 0); at < text.length; ) {
    const [node, end] = spanAt(text, at, endless) ?? [null, at];
    if (node === null) {
      at = nextFrom(text, isLine(text, at) || text[at] === "`" ? endOfRun(text, at) : at + 1);
      continue;
    }
    if (textStart < at) found.push(text.slice(textStart, at));
    found.push(node);
    textStart = end;
    at = nextFrom(text, end);
  }
  return textStart < text.length ? [...found, text.slice(textStart)] : found;
}

function nextFrom(text: string, at: number): number {
  mayBegin.lastIndex = at;
  return mayBegin.exec(text)?.index ?? text.length;
}

/** Parses the span at a position and returns it with its end; null if there is only text. */
function spanAt(text: string, at: number, endless: Set<string>): [Node, number] | null {
  switch (text[at]) {
    case "\\":
      return matched(escaped, text, at, ([, char]) => char!);
    case "`":
      return codeAt(text, at, endless);
    case "!":
    case "[":
      return matched(linked, text, at, ([, name, href]) => link(href!, name!));
    case "h":
      return matched(address, text, at, ([href]) => link(href, href));
  }
  if (isLine(text, at)) return null;
  for (const pair of pairs) {
    const end = endOfPair(text, at, pair, endless);
    if (end === null) continue;
    const { mark, tag } = pair;
    return [element(tag, ...inline(text.slice(at + mark.length, end))), end + mark.length];
  }
  return null;
}

function matched(
  form: RegExp,
  text: string,
  at: number,
  make: (match: RegExpExecArray) => Node,
): [Node, number] | null {
  form.lastIndex = at;
  const match = form.exec(text);
  return match && [make(match), form.lastIndex];
}

function endOfRun(text: string, at: number): number {
  let end = at;
  while (text[end] === text[at]) end++;
  return end;
}

/** Four or more marks form a line and format nothing; otherwise they would nest as deep as the line is long. */
const isLine = (text: string, at: number): boolean =>
  ["****", "____", "~~~~"].some((line) => text.startsWith(line, at));

/** Parses inline code, which ends with as many backticks as it began with. */
function codeAt(text: string, at: number, endless: Set<string>): [Node, number] | null {
  const from = endOfRun(text, at);
  const mark = text.slice(at, from);
  if (endless.has(mark)) return null;
  for (let place = text.indexOf(mark, from); place !== -1; ) {
    const end = endOfRun(text, place);
    if (end - place === mark.length) return [element("code", text.slice(from, place).replaceAll("\n", " ")), end];
    place = text.indexOf(mark, end);
  }
  endless.add(mark);
  return null;
}

const isSpace = (char: string | undefined): boolean => char === undefined || /\s/.test(char);
const isOfWord = (char: string | undefined): boolean => char !== undefined && /\w/.test(char);

function endOfPair(text: string, at: number, pair: Pair, endless: Set<string>): number | null {
  const { mark, isNear = false, isApart = false } = pair;
  const from = at + mark.length;
  const isBegin = text.startsWith(mark, at) && !isSpace(text[from]) && !(isNear && text[from] === mark);
  if (!isBegin || endless.has(mark) || (isApart && isOfWord(text[at - 1]))) return null;
  const isEnd = (place: number) => !isSpace(text[place - 1]) && !(isApart && isOfWord(text[place + mark.length]));
  let end = text.indexOf(mark, from + 1);
  if (isNear && end !== -1) return isEnd(end) ? end : null;
  while (end !== -1 && !isEnd(end)) end = text.indexOf(mark, end + 1);
  if (end === -1) endless.add(mark);
  return end === -1 ? null : end;
}

/** Returns a link if the address is a web page or a mailbox, otherwise its text. */
function link(href: string, text: string): Node {
  const url = URL.parse(href);
  const isSafe = url !== null && /^(https?|mailto):$/.test(url.protocol) && url.username === "";
  return isSafe ? { tag: "a", href: url.href, children: [text || href] } : text;
}
