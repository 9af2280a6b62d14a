import type { DocumentFault } from "../../runtime/sandbox/document-reader.ts";
import { docxOf, epubOf, odfOf, pdfOf, pptxOf, xlsxOf } from "../documents.ts";
import { messageOf } from "../outlook-message.ts";

/** Document made to harm its reader, and the accepted results: faults, or "text". */
export interface HostileDocument {
  name: string;
  mime_type: string;
  content: () => Uint8Array;
  expected: readonly (DocumentFault | "text")[];
  /** The document takes so much memory or time that only a child process may read it, in tests too. */
  heavy: boolean;
}

export const mimeTypes = {
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  json: "application/json",
  jsonl: "application/jsonl",
  csv: "text/csv",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  odt: "application/vnd.oasis.opendocument.text",
  epub: "application/epub+zip",
  rtf: "application/rtf",
  eml: "message/rfc822",
  msg: "application/vnd.ms-outlook",
} as const;
export type Kind = keyof typeof mimeTypes;

export const utf8 = (text: string) => new TextEncoder().encode(text);
export const megabyte = 2 ** 20;

/** A small valid document of each kind. */
export const validDocuments: Record<Kind, Uint8Array> = {
  txt: utf8("One line.\n\nAnother one, of some words."),
  md: utf8("# Title\n\nText.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\ncode\n```\n"),
  html: utf8("<!doctype html><title>T</title><h1>A</h1><p>Text <b>bold</b>.</p><table><tr><td>1<td>2</table>"),
  json: utf8('{"a":[1,2,{"b":"text"}],"c":"more"}'),
  jsonl: utf8('{"a":1}\n{"a":2}\n'),
  csv: utf8('name,age\n"Ann, the first",3\nBob,4\n'),
  pdf: pdfOf(["# Title\nSome text on a page.", "And on another."]),
  docx: docxOf([{ heading: "Title", text: "Some text." }, { rows: [["a", "b"]] }]),
  xlsx: xlsxOf([
    {
      name: "Sheet",
      rows: [
        ["a", "b"],
        [1, true],
      ],
    },
  ]),
  pptx: pptxOf([{ title: "Title", text: "Text", notes: "Notes" }]),
  odt: odfOf("<text:h text:outline-level='1'>Title</text:h><text:p>Some text.</text:p>"),
  epub: epubOf(["<h1>One</h1><p>Text.</p>", "<p>More.</p>"]),
  rtf: utf8("{\\rtf1\\ansi\\uc1 Some {\\b text}\\par More \\u8364 ?\\par}"),
  eml: utf8("From: a@x.test\r\nSubject: Title\r\n\r\nSome text.\r\n"),
  msg: messageOf({ "0037": "Title", "1000": "Some text." }),
};

const heavyNames = new Set([
  "a part that unpacks to 210 MB",
  "one that says it unpacks to 1 byte",
  "100 MB of one line",
  "a million attributes",
  "each row a single cell in a column of its own",
  "a page of 800 MB",
  "a page packed three times",
  "a form that shows itself",
]);

export const hostile = (
  kind: Kind,
  name: string,
  content: () => Uint8Array,
  ...expected: HostileDocument["expected"]
) => ({
  name: `${kind}: ${name}`,
  mime_type: mimeTypes[kind],
  content,
  expected,
  heavy: heavyNames.has(name),
});

/** Returns deterministic bytes without a pattern. */
export function noise(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  let state = seed;
  return new Uint8Array(length).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}
