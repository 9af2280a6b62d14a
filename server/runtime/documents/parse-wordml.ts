import { docxBody } from "./docx-body.ts";
import { createDocxNotes, notesOf } from "./docx-notes.ts";
import { stylesOf } from "./docx-styles.ts";
import { createHiddenText } from "./hidden-text.ts";
import type { Outline } from "./outline.ts";
import { outlineEdges } from "./parse-docx.ts";
import type { ParseOptions } from "./parse-options.ts";
import { readXml, type XmlListener } from "./xml.ts";

/** Parses a text document of Word 2003 in XML, whose notes, comments and page headers stand within the text. */
export function parseWordml(bytes: Uint8Array, outline: Outline, { includeHidden }: ParseOptions): void {
  const hiddenText = createHiddenText(outline, includeHidden);
  const read = (listener: XmlListener) => readXml(bytes, listener);
  const body = docxBody(outline, {
    styles: stylesOf(read),
    marks: () => "-",
    aside: createDocxNotes(() => () => {}, hiddenText),
    hiddenText,
    isPaged: false,
    insert() {},
  });
  read(body);
  const edges = ["hdr", "ftr"].flatMap((name) => [...notesOf(read, name, hiddenText).values()]);
  outlineEdges(
    edges.map(({ text }) => text),
    outline,
  );
  hiddenText.warn();
}
