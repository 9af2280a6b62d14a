import { ownValue } from "../../lib/collections.ts";
import { encodingOf } from "./code-pages.ts";
import { unreadable } from "./document-error.ts";
import { createHiddenText } from "./hidden-text.ts";
import { addToCell, markdownTable } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import { defaultOptions, type ParseOptions } from "./parse-options.ts";
import { markRaisedText, raisedEnd, raisedStart } from "./raised.ts";

/** Groups that are not text of the document. A group marked with `\*` is not text either, unless it is known. */
const ignoredGroups = new Set(
  "fonttbl colortbl stylesheet info pict object themedata colorschememapping latentstyles datastore listtable listoverridetable rsidtbl generator xmlnstbl mmathPr fldinst bkmkstart bkmkend pntxta pntxtb nonshppict atnid atnref atnauthor atndate revtbl filetbl".split(
    " ",
  ),
);
const known = new Set(["shppict", "shpinst", "shptxt", "annotation", "footnote", "moMath"]);
const besideMarks: Record<string, string> = { footnote: "Note: ", annotation: "> Comment: ", shptxt: "" };
const edges = new Set(["header", "footer", "headerl", "headerr", "headerf", "footerl", "footerr", "footerf"]);
const signs: Record<string, string> = {
  tab: "\t",
  line: "\n",
  emdash: "—",
  endash: "–",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  bullet: "•",
  emspace: " ",
  enspace: " ",
  qmspace: " ",
  "~": "\u00a0",
  _: "-",
};
/** Encodings of the character sets of fonts. */
const charsets: Record<number, string> = {
  128: "shift_jis",
  129: "euc-kr",
  134: "gbk",
  136: "big5",
  161: "windows-1253",
  162: "windows-1254",
  163: "windows-1258",
  177: "windows-1255",
  178: "windows-1256",
  186: "windows-1257",
  204: "windows-1251",
  222: "windows-874",
  238: "windows-1250",
};

interface Group {
  hidden: boolean;
  edge: boolean;
  raised: boolean;
  /** True for hidden text, and for deleted text whose deletion is tracked. */
  vanished: boolean;
  deleted: boolean;
  encoding: string;
  /** Number of characters to skip after a Unicode character: its replacement for old programs. */
  skipped: number;
  beside: string | null;
}

const maxDepth = 2000;
const token = /\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\$/g;

/** Parses RTF: paragraphs, headings by level, tables, notes, comments, text boxes and list numbers. */
export function parseRtf(
  bytes: Uint8Array,
  outline: Outline,
  { includeHidden }: Pick<ParseOptions, "includeHidden"> = defaultOptions,
): void {
  const hiddenText = createHiddenText(outline, includeHidden);
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  if (!/^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(source)) throw unreadable("It is not rich text.");
  const fonts = new Map<number, string>();
  let group: Group = {
    hidden: false,
    edge: false,
    raised: false,
    vanished: false,
    deleted: false,
    encoding: "windows-1252",
    skipped: 1,
    beside: null,
  };
  const groups: Group[] = [];
  let [font, ansi, skip, star] = [0, "windows-1252", 0, false];
  let [text, level, inTable] = ["", 0, false];
  let bytesHeld: number[] = [];
  let [rows, cells] = [[] as string[][], [] as string[]];
  let behind: string[] = [];
  const outerTexts: string[] = [];
  const edgeTexts = new Set<string>();
  const [edgeGroups, besideGroups] = [new Set<Group>(), new Set<Group>()];

  const skippedText = { text: "", deletion: "" };
  const flushSkipped = () => {
    hiddenText.skip("text", skippedText.text, "");
    hiddenText.skip("deletion", skippedText.deletion, "");
    Object.assign(skippedText, { text: "", deletion: "" });
  };
  const write = (piece: string) => {
    if (group.hidden) return;
    if (group.deleted && includeHidden) text = `${text.endsWith("~~") ? text.slice(0, -2) : `${text}~~`}${piece}~~`;
    else if (group.deleted) skippedText.deletion += piece;
    else if (group.vanished && !includeHidden) skippedText.text += piece;
    else text += group.raised ? `${raisedStart}${piece}${raisedEnd}` : piece;
  };
  const flushBytes = () => {
    if (bytesHeld.length > 0) write(decode(bytesHeld, group.encoding));
    bytesHeld = [];
  };
  const endRow = () => {
    if (cells.at(-1) === "") cells.pop();
    if (cells.length > 0) rows.push(cells);
    cells = [];
  };
  const endTable = () => {
    endRow();
    if (rows.length > 0) outline.block(markdownTable(rows));
    rows = [];
  };
  const endParagraph = () => {
    flushBytes();
    flushSkipped();
    if (group.hidden || group.beside !== null) {
      text += " ";
      return;
    }
    const done = markRaisedText(text);
    text = "";
    if (group.edge) return void (hasWords(done) && edgeTexts.add(done.trim()));
    if (inTable) {
      if (cells.length === 0) cells.push("");
      return addToCell([cells], done);
    }
    endTable();
    if (level > 0 && done.trim() !== "") outline.heading(level, done);
    else outline.block(done);
    for (const one of behind) outline.block(one);
    behind = [];
  };
  const startBeside = (mark: string) => {
    flushBytes();
    group.beside = mark;
    besideGroups.add(group);
    outerTexts.push(text);
    text = "";
  };
  const words: Record<string, (value: number | null) => void> = {
    par: endParagraph,
    sect: endParagraph,
    page: endParagraph,
    pard() {
      [level, inTable] = [0, false];
    },
    outlinelevel(value) {
      level = value !== null && value >= 0 && value < 6 ? value + 1 : 0;
    },
    intbl() {
      inTable = true;
    },
    cell() {
      inTable = true;
      endParagraph();
      cells.push("");
    },
    nestcell: endParagraph,
    row() {
      inTable = true;
      endParagraph();
      endRow();
    },
    super() {
      group.raised = true;
    },
    nosupersub() {
      group.raised = false;
    },
    plain() {
      Object.assign(group, { raised: false, vanished: false, deleted: false });
    },
    v(value) {
      group.vanished = value !== 0;
    },
    deleted(value) {
      group.deleted = value !== 0;
    },
    ansicpg(value) {
      ansi = encodingOf(value ?? 0);
      group.encoding = ansi;
    },
    f(value) {
      font = value ?? 0;
      group.encoding = fonts.get(font) ?? ansi;
    },
    fcharset(value) {
      const encoding = charsets[value ?? 0];
      if (encoding) fonts.set(font, encoding);
    },
    uc(value) {
      group.skipped = Math.min(10, Math.max(0, value ?? 1));
    },
    u(value) {
      write(String.fromCharCode((value ?? 0) & 0xffff));
      skip = group.skipped;
    },
  };
  const onWord = (word: string, value: number | null) => {
    if (star && !known.has(word)) group.hidden = true;
    star = false;
    if (ignoredGroups.has(word)) group.hidden = true;
    if (edges.has(word)) {
      group.edge = true;
      outerTexts.push(text);
      text = "";
      group.beside = null;
      edgeGroups.add(group);
    }
    const [part, act, sign] = [ownValue(besideMarks, word), ownValue(words, word), ownValue(signs, word)];
    if (part !== undefined && !group.hidden) startBeside(part);
    if (act) act(value);
    else if (sign !== undefined) write(sign);
  };
  const close = () => {
    flushBytes();
    const done = group;
    const outer = groups.pop();
    if (!outer) return;
    if (edgeGroups.delete(done)) {
      endParagraph();
      text = outerTexts.pop() ?? "";
    } else if (besideGroups.delete(done)) {
      const noteText = markRaisedText(text).replace(/\s+/g, " ").trim();
      if (noteText !== "") behind.push(done.beside + noteText);
      text = outerTexts.pop() ?? "";
    }
    group = outer;
  };

  for (const [, word, value, byte, sign, brace, plain] of source.matchAll(token)) {
    if (byte !== undefined) {
      if (skip > 0) skip--;
      else bytesHeld.push(Number.parseInt(byte, 16));
      continue;
    }
    if (plain !== undefined) {
      const shown = plain.slice(skip);
      skip = Math.max(0, skip - plain.length);
      flushBytes();
      if (shown !== "") write(/[\x80-\xff]/.test(shown) ? decode(Buffer.from(shown, "latin1"), group.encoding) : shown);
      continue;
    }
    flushBytes();
    if (word !== undefined) onWord(word, value === undefined ? null : Number(value));
    else if (brace === "{") {
      skip = 0;
      if (groups.length > maxDepth) throw unreadable("It nests too deep.");
      groups.push(group);
      group = { ...group };
    } else if (brace === "}") close();
    else if (sign === "*") star = true;
    else if (sign === "\n" || sign === "\r") endParagraph();
    else if (sign !== undefined) write(signs[sign] ?? (/[\\{}]/.test(sign) ? sign : ""));
  }
  // The file was cut off: close the groups left open.
  while (groups.length > 0) close();
  endParagraph();
  endTable();
  hiddenText.warn();
  if (edgeTexts.size > 0) outline.leave();
  for (const one of edgeTexts) outline.block(one);
}

function decode(bytes: Uint8Array | readonly number[], encoding: string): string {
  try {
    return new TextDecoder(encoding as Bun.Encoding).decode(Uint8Array.from(bytes));
  } catch {
    return new TextDecoder("windows-1252" as Bun.Encoding).decode(Uint8Array.from(bytes));
  }
}
