import { isOn } from "./docx-styles.ts";
import type { HiddenText } from "./hidden-text.ts";
import { drawnImageText, imageText } from "./image-text.ts";
import { symbolText } from "./symbol-letters.ts";
import type { PartReader } from "./xml.ts";

interface Note {
  text: string;
  author: string | null;
}

export type DocxNotes = ReturnType<typeof createDocxNotes>;

/**
 * Notes and comments of a text document: returns for each reference its mark and the text that follows the paragraph.
 */
export function createDocxNotes(part: (type: string) => PartReader, hiddenText: HiddenText) {
  const notes = {
    footnote: notesOf(part("footnotes"), "footnote", hiddenText),
    endnote: notesOf(part("endnotes"), "endnote", hiddenText),
    comment: notesOf(part("comments"), "comment", hiddenText),
  };
  let count = 0;
  const take = (kind: keyof typeof notes, id: string | null): Note | null => {
    const note = notes[kind].get(id ?? "") ?? null;
    notes[kind].delete(id ?? "");
    return note;
  };
  return {
    note(kind: "footnote" | "endnote", id: string | null) {
      const note = take(kind, id);
      return note && { mark: `[^${++count}]`, text: `[^${count}]: ${note.text}` };
    },
    comment(id: string | null) {
      const comment = take("comment", id);
      const by = comment?.author ? ` by ${comment.author}` : "";
      return comment && { mark: "", text: `> Comment${by}: ${comment.text}` };
    },
    /** Returns the notes that no paragraph refers to. */
    left: (): string[] => Object.values(notes).flatMap((kind) => Array.from(kind.values(), ({ text }) => text)),
  };
}

const placeNames: Record<string, string> = { hdr: "header", ftr: "footer", comment: "comment" };

/** Returns the elements of this name in a part by their ids, each as one line. */
export function notesOf(read: PartReader, element: string, hiddenText: HiddenText): Map<string, Note> {
  const notes = new Map<string, Note>();
  let note: Note = { text: "", author: null };
  let [id, reading, hidden] = ["", false, 0];
  let [inRun, isVanished] = [false, false];
  read({
    open(name, attribute) {
      if (name === element)
        [id, note] = [attribute("id") ?? String(notes.size), { text: "", author: attribute("author") }];
      // A fallback repeats the drawing for programs that cannot show it.
      if (name === "Fallback" || name === "rPrChange") hidden++;
      if (hidden > 0) return;
      reading = name === "t";
      if (name === "r") [inRun, isVanished] = [true, false];
      if (name === "vanish" && inRun) isVanished = isOn(attribute);
      if (name === "tab" || name === "br") note.text += " ";
      if (name === "noBreakHyphen") note.text += "-";
      if (name === "sym") note.text += symbolText(attribute);
      if (name === "shape") note.text += ` ${imageText(attribute("alt"))} `;
      if (name === "docPr") note.text += ` ${drawnImageText(attribute)} `;
      if (name === "textpath") note.text += ` ${attribute("string") ?? ""} `;
    },
    close(name) {
      reading = false;
      if (name === "Fallback" || name === "rPrChange") hidden--;
      if (name === "r") [inRun, isVanished] = [false, false];
      if (name === "p") note.text += " ";
      if (name !== element) return;
      const text = note.text.replace(/\s+/g, " ").trim();
      if (text !== "") notes.set(id, { ...note, text });
    },
    text(text) {
      if (!reading) return;
      if (isVanished && !hiddenText.isIncluded) hiddenText.skip("text", text, `in a ${placeNames[element] ?? "note"}`);
      else note.text += text;
    },
  });
  return notes;
}
