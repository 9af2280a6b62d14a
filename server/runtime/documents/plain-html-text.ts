import type { MdreamOptions } from "@mdream/js";

/**
 * Characters that mean something in Markdown, and noncharacters of Unicode that stand for them while a page becomes
 * Markdown. So the converter has nothing to escape, and a paragraph that begins with `#` is no heading.
 */
const marks = "\\*_~`[]<>#+-.)|&=";
const firstStandIn = 0xfdd0;
const standIns = [...marks].map((_, at) => String.fromCharCode(firstStandIn + at));
const markOf = new Map(standIns.map((standIn, at) => [standIn, marks[at] ?? ""]));
const standInOf = new Map([...marks].map((mark, at) => [mark, standIns[at] ?? ""]));
const anyMark = /[\\*_~`[\]<>#+\-.)|&=]/g;
// In code the converter escapes nothing, and chooses a fence by the backticks.
const codeMark = /[\\*_~|]/g;
const anyStandIn = /[\ufdd0-\ufdef]/g;
const bar = standInOf.get("|") ?? "";

const codeTags = new Set(["pre", "code", "kbd", "samp"]);

type Hook = NonNullable<MdreamOptions["hooks"]>[number];

/** Replaces the characters of Markdown in the text of a page. */
export const protectText: Hook = {
  processTextNode(node) {
    const text = node.value.replace(anyStandIn, "");
    const isCode = isWithin(node.parent, codeTags);
    // The converter marks text that looks like a character reference with a backslash.
    const own = isCode ? text : text.replace(/\\(?=&(?:#\d{1,7}|#x[\da-f]{1,6}|\w{2,32});)/gi, "");
    const content = own.replace(isCode ? codeMark : anyMark, (mark) => standInOf.get(mark) ?? mark);
    return { content, skip: false };
  },
};

interface Parent {
  name?: string;
  parent?: Parent | null | undefined;
}

function isWithin(node: Parent | null | undefined, names: ReadonlySet<string>): boolean {
  for (let at = node; at; at = at.parent) if (at.name !== undefined && names.has(at.name)) return true;
  return false;
}

/**
 * Removes the escapes of attributes, as text has none, and the emphasis of parts of words, which would separate them:
 * `**T**he`.
 */
export const withoutSigns = (markdown: string): string =>
  markdown.replace(/\\([!-/:-@[-`{}~])/g, "$1").replace(/(\*{1,3})(?=[^\s*])([^*\n]+)\1/g, partOfWord);

const letter = /[\p{L}\p{N}]/u;

function partOfWord(whole: string, _: string, inner: string, at: number, markdown: string): string {
  const [before, after] = [markdown[at - 1] ?? "", markdown[at + whole.length] ?? ""];
  const isPart =
    (letter.test(before) && letter.test(inner[0] ?? "")) || (letter.test(after) && letter.test(inner.at(-1) ?? ""));
  return isPart ? inner : whole;
}

/** Restores the characters of the text. A bar within a table is escaped, since it would end the cell. */
export const restoreText = (markdown: string): string =>
  markdown
    .replace(/^\|.*$/gm, (row) => row.replaceAll(bar, "\\|"))
    .replace(anyStandIn, (standIn) => markOf.get(standIn) ?? "");
