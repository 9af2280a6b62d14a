/** An element of what a model wrote: a name, attributes that are safe, and what it holds. */
interface Element {
  tag: string;
  href?: string;
  start?: number;
  children: Node[];
}
export type Node = string | Element;

const element = (tag: string, ...children: Node[]): Element => ({ tag, children });

/** Text as Markdown, as far as models write it. HTML in it stays the text that it is, and pictures are links. */
export function parseMarkdown(text: string): Node[] {
  return blocks(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

// Deeper than anybody writes: what nests on purpose ends as text.
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
const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const rule = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const quote = /^ {0,3}> ?/;
const item = /^( *)(?:([-*+])|(\d{1,9})[.)])\s+/;
const divider = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** The block that begins at a line, and the line behind it. */
function block(lines: readonly string[], at: number, depth: number): [Node | null, number] {
  const line = lines[at]!;
  if (line.trim() === "") return [null, at + 1];
  if (fence.test(line)) return code(lines, at);
  const [, marks, title] = heading.exec(line) ?? [];
  if (marks) return [element(`h${marks.length}`, ...inline(title!)), at + 1];
  if (rule.test(line)) return [element("hr"), at + 1];
  if (quote.test(line)) {
    const end = endOf(lines, at, (next) => quote.test(next));
    const inner = lines.slice(at, end).map((one) => one.replace(quote, ""));
    return [element("blockquote", ...blocks(inner, depth + 1)), end];
  }
  if (item.test(line)) return list(lines, at, depth);
  if (line.includes("|") && divider.test(lines[at + 1] ?? "") && lines[at + 1]!.includes("-")) return table(lines, at);
  const end = endOf(lines, at, (next, place) => place === at || (next.trim() !== "" && !begins(next)));
  return [element("p", ...inline(lines.slice(at, end).join("\n"))), end];
}

const begins = (line: string): boolean => [fence, heading, rule, quote, item].some((form) => form.test(line));

function endOf(lines: readonly string[], from: number, goesOn: (line: string, place: number) => boolean): number {
  let end = from;
  while (end < lines.length && goesOn(lines[end]!, end)) end++;
  return end;
}

/** Of a block that is still being written, what there is of it. */
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
  const whole = element(isOrdered ? "ol" : "ul", ...items);
  return [isOrdered ? { ...whole, start: Number(number) } : whole, next];
}

const outdented = (line: string, width: number): string => line.replace(new RegExp(`^ {0,${width}}`), "");

/** The text of a list item is not wrapped in a paragraph. */
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

const spans: [form: RegExp, make: (match: RegExpExecArray) => Node][] = [
  [/\\([\\`*_{}[\]()#+\-.!~|<>])/, ([, char]) => char!],
  [/(`+)([\s\S]*?[^`])\1(?!`)/, ([, , text]) => element("code", text!.replaceAll("\n", " "))],
  [
    /!?\[([^\]\n]*)\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)/,
    ([, text, href]) => link(href!, text!),
  ],
  [/\bhttps?:\/\/[^\s<>()]*[^\s<>().,;:!?"']/, ([href]) => link(href, href)],
  [/\*\*(?=\S)([\s\S]*?\S)\*\*/, ([, text]) => element("strong", ...inline(text!))],
  [/(?<!\w)__(?=\S)([\s\S]*?\S)__(?!\w)/, ([, text]) => element("strong", ...inline(text!))],
  [/\*(?=[^\s*])([^*]*[^\s*])\*/, ([, text]) => element("em", ...inline(text!))],
  [/(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)/, ([, text]) => element("em", ...inline(text!))],
  [/~~(?=\S)([\s\S]*?\S)~~/, ([, text]) => element("del", ...inline(text!))],
];

/** A longer text than this is shown as it is: nobody formats so much, and taking it apart could take long. */
const longest = 8000;

function inline(text: string): Node[] {
  if (text.length > longest) return [text];
  const found: Node[] = [];
  for (let rest = text; rest !== ""; ) {
    const first = spans
      .map(([form, make]) => ({ match: form.exec(rest), make }))
      .filter((one) => one.match !== null)
      .sort((a, b) => a.match!.index - b.match!.index)[0];
    if (!first) return [...found, rest];
    const { index, 0: whole } = first.match!;
    if (index > 0) found.push(rest.slice(0, index));
    found.push(first.make(first.match!));
    rest = rest.slice(index + whole.length);
  }
  return found;
}

/** A link, where it leads to a page or a mailbox; else its text. */
function link(href: string, text: string): Node {
  const url = URL.parse(href);
  const isSafe = url !== null && /^(https?|mailto):$/.test(url.protocol) && url.username === "";
  return isSafe ? { tag: "a", href: url.href, children: [text || href] } : text;
}
