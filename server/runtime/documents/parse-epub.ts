import { DocumentError, tooLarge, unreadable } from "./document-error.ts";
import { openOffice, partBeside, unescapePath } from "./office.ts";
import type { Outline } from "./outline.ts";
import { parseHtml } from "./parse-html.ts";
import type { ParseOptions } from "./parse-options.ts";
import { readXml } from "./xml.ts";

const chaptersMost = 5000;

/** Parses a book: its chapters in reading order. */
export function parseEpub(bytes: Uint8Array, outline: Outline, options: ParseOptions): void {
  const file = openOffice(bytes, outline);
  let main = "";
  readXml(file.need("META-INF/container.xml"), {
    open(name, attribute) {
      if (name === "rootfile") main ||= attribute("full-path") ?? "";
    },
  });
  const parts = new Map<string, string>();
  const chapters: string[] = [];
  readXml(file.need(main), {
    open(name, attribute) {
      const target = attribute("href") ?? "";
      if (name === "item")
        parts.set(attribute("id") ?? "", partBeside(main, unescapePath(target.split("#", 1)[0] ?? "")));
      if (name === "itemref") chapters.push(attribute("idref") ?? "");
    },
  });
  const locked = file.read("META-INF/encryption.xml");
  let found = 0;
  if (chapters.length > chaptersMost) throw tooLarge(`It has more than ${chaptersMost} chapters.`);
  for (const id of chapters) {
    const part = parts.get(id) ?? "";
    if (locked && Buffer.from(locked).includes(`"${part}"`))
      throw new DocumentError("document_encrypted", "The book is encrypted.");
    const chapter = file.bytesOf(part);
    if (!chapter) continue;
    found++;
    parseHtml(chapter, outline, options);
  }
  if (found === 0) throw unreadable("It has no chapter.");
}
