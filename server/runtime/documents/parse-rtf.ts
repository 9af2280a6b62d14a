import { ownValue } from "../../lib/collections.ts";
import { encodingNamed, encodingOf } from "./code-pages.ts";
import { decodeAs } from "./decode.ts";
import { unreadable } from "./document-error.ts";
import { createHiddenText } from "./hidden-text.ts";
import { addToCell, markdownTable } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import { defaultOptions, type ParseOptions } from "./parse-options.ts";
import { markRaisedText, raisedEnd, raisedStart } from "./raised.ts";
import { symbolLetter } from "./symbol-letters.ts";

/** Groups that are not text of the document. A group marked with `\*` is not text either, unless it is known. */
const ignoredGroups = new Set(
  "fonttbl colortbl stylesheet info pict object themedata colorschememapping latentstyles datastore listtable listoverridetable rsidtbl generator xmlnstbl mmathPr fldinst bkmkstart bkmkend pntxta pntxtb nonshppict atnid atnref atnauthor atndate revtbl filetbl".split(
    " ",
  ),
);
const known = new Set(["ud", "shppict", "shpinst", "shptxt", "annotation", "footnote", "moMath"]);
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
  zwj: "\u200d",
  zwnj: "\u200c",
};
/** Encodings of the character sets of fonts. */
const charsets: Record<number, string> = {
  77: "macintosh",
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

const pairEncodings = new Set(["shift_jis", "euc-kr", "gbk", "big5"]);

interface Group {
  hidden: boolean;
  /** True for hidden text, and for deleted text whose deletion is tracked. */
  vanished: boolean;
  deleted: boolean;
  edge: boolean;
  raised: boolean;
  /** Null: the default font. */
  font: number | null;
  /** Number of characters to skip after a Unicode character: its replacement for old programs. */
  skipped: number;
  beside: string | null;
  /** The group has its text twice, the second time in Unicode. */
  hasUnicode: boolean;
  isFontTable: boolean;
}

const maxDepth = 2000;
const token = /\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\$/g;

/** Parses RTF: paragraphs, headings by level, tables, notes, comments, text boxes and list numbers. */
export function parseRtf(
  bytes: Uint8Array,
  outline: Outline,
  { includeHidden }: Pick<ParseOptions, "includeHidden"> = defaultOptions,
): void {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  if (!/^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(source)) throw unreadable("It is not rich text.");
  const fonts = new Map<number, string>();
  const symbolFonts = new Map<number, "letters" | "pictures">();
  let group: Group = {
    hidden: false,
    vanished: false,
    deleted: false,
    edge: false,
    raised: false,
    font: null,
    skipped: 1,
    beside: null,
    hasUnicode: false,
    isFontTable: false,
  };
  const groups: Group[] = [];
  let [font, defaultFont, ansi, skip, star] = [0, 0, "windows-1252", 0, false];
  const hiddenText = createHiddenText(outline, includeHidden);
  const skipped = { text: "", deletion: "" };
  let [text, level, inTable] = ["", 0, false];
  let bytesHeld: number[] = [];
  let [rows, cells] = [[] as string[][], [] as string[]];
  let behind: string[] = [];
  const outerTexts: string[] = [];
  const edgeTexts = new Set<string>();
  const [edgeGroups, besideGroups] = [new Set<Group>(), new Set<Group>()];

  const write = (piece: string) => {
    if (group.hidden) return;
    if (group.deleted && includeHidden) text += `${deletionStart}${piece}${deletionEnd}`;
    else if (group.deleted) skipped.deletion += piece;
    else if (group.vanished && !includeHidden) skipped.text += piece;
    else text += group.raised ? `${raisedStart}${piece}${raisedEnd}` : piece;
  };
  const fontNow = () => group.font ?? defaultFont;
  const encodingNow = () => fonts.get(fontNow()) ?? ansi;
  const writeBytes = (bytes: Uint8Array | readonly number[]) => {
    const kind = symbolFonts.get(fontNow());
    write(kind ? symbols(bytes, kind) : decode(bytes, encodingNow()));
  };
  const flushBytes = () => {
    if (bytesHeld.length > 0) writeBytes(bytesHeld);
    bytesHeld = [];
  };
  /** Records the kind of a font by its name: its letters may be symbols. */
  const isFontName = (name: string, number: number): boolean => {
    if (!group.isFontTable) return false;
    if (/^\s*symbol/i.test(name)) symbolFonts.set(number, "letters");
    else if (/^\s*(?:wingdings|webdings|zapf ?dingbats)/i.test(name)) symbolFonts.set(number, "pictures");
    return true;
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
  const flushSkipped = () => {
    hiddenText.skip("text", skipped.text, "");
    hiddenText.skip("deletion", skipped.deletion, "");
    Object.assign(skipped, { text: "", deletion: "" });
  };
  const endParagraph = () => {
    flushBytes();
    flushSkipped();
    if (group.hidden || group.beside !== null) {
      text += " ";
      return;
    }
    const done = markText(text);
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
      [group.raised, group.vanished, group.deleted] = [false, false, false];
      group.font = null;
    },
    v(value) {
      group.vanished = value !== 0;
    },
    deleted(value) {
      group.deleted = value !== 0;
    },
    ansicpg(value) {
      ansi = encodingNamed(encodingOf(value ?? 0)) ?? ansi;
    },
    mac() {
      ansi = "macintosh";
    },
    fonttbl() {
      group.isFontTable = true;
    },
    deff(value) {
      defaultFont = value ?? 0;
    },
    f(value) {
      font = value ?? 0;
      group.font = font;
    },
    fcharset(value) {
      const encoding = charsets[value ?? 0];
      if (encoding) fonts.set(font, encoding);
    },
    uc(value) {
      group.skipped = Math.min(10, Math.max(0, value ?? 1));
    },
    upr() {
      group.hasUnicode = !group.hidden;
      group.hidden = true;
    },
    ud() {
      if (group.hasUnicode) group.hidden = false;
    },
    u(value) {
      const code = (value ?? 0) & 0xffff;
      // Fonts of symbols have them in the private use area.
      if (code >= 0xf020 && code <= 0xf0ff) write(symbols([code & 0xff], symbolFonts.get(fontNow()) ?? "letters"));
      else write(String.fromCharCode(code));
      skip = group.skipped;
    },
  };
  const onWord = (word: string, value: number | null) => {
    // A replacement is made of letters, not of words.
    skip = 0;
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
    skip = 0;
    const done = group;
    const outer = groups.pop();
    if (!outer) return;
    if (edgeGroups.delete(done)) {
      endParagraph();
      text = outerTexts.pop() ?? "";
    } else if (besideGroups.delete(done)) {
      const noteText = markText(text).replace(/\s+/g, " ").trim();
      if (noteText !== "") behind.push(done.beside + noteText);
      text = outerTexts.pop() ?? "";
    }
    group = outer;
  };

  token.lastIndex = 0;
  for (let found = token.exec(source); found; found = token.exec(source)) {
    const [, word, value, byte, sign, brace, plain] = found;
    if (byte !== undefined) {
      if (skip > 0) skip--;
      else bytesHeld.push(Number.parseInt(byte, 16));
      continue;
    }
    if (plain !== undefined) {
      let shown = plain.slice(skip);
      skip = Math.max(0, skip - plain.length);
      // The second byte of a letter may be in ASCII.
      if (shown !== "" && isOpenPair(bytesHeld, encodingNow())) {
        bytesHeld.push(shown.charCodeAt(0));
        shown = shown.slice(1);
      }
      flushBytes();
      if (group.hidden && isFontName(shown, font)) continue;
      if (shown === "" || group.hidden) continue;
      if (/[\x80-\xff]/.test(shown) || symbolFonts.has(fontNow())) writeBytes(Buffer.from(shown, "latin1"));
      else write(shown);
      continue;
    }
    if (sign !== undefined && /[\\{}]/.test(sign) && isOpenPair(bytesHeld, encodingNow())) {
      bytesHeld.push(sign.charCodeAt(0));
      flushBytes();
      continue;
    }
    // Line ends of the file may stand between the bytes of a letter.
    if (word === undefined && brace === undefined && sign === undefined) continue;
    if (word === "bin") token.lastIndex += Math.max(0, Number(value ?? 0));
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

/** Delimiters of deleted text until a paragraph is complete, as for raised letters. */
const [deletionStart, deletionEnd] = ["\u0003", "\u0004"];

const markText = (text: string): string =>
  markRaisedText(
    text
      .replaceAll(deletionEnd + deletionStart, "")
      .replaceAll(deletionStart, "~~")
      .replaceAll(deletionEnd, "~~"),
  );

const decode = (bytes: Uint8Array | readonly number[], encoding: string): string =>
  decodeAs(encoding, Uint8Array.from(bytes));

/** Returns the letters of the Symbol font; pictures have none. */
const symbols = (bytes: Uint8Array | readonly number[], kind: "letters" | "pictures"): string =>
  kind === "pictures" ? "" : Array.from(bytes, symbolLetter).join("");

/** True if the last byte is the first one of a letter of two bytes. */
function isOpenPair(bytes: readonly number[], encoding: string): boolean {
  if (!pairEncodings.has(encoding)) return false;
  let isOpen = false;
  for (const byte of bytes) {
    const isHalfWidth = encoding === "shift_jis" && byte > 0x9f && byte < 0xe0;
    isOpen = !isOpen && byte > 0x80 && byte < 0xff && !isHalfWidth;
  }
  return isOpen;
}
