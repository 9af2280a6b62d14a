import { drawnImageText, imageText } from "./image-text.ts";
import { symbolText } from "./symbol-letters.ts";
import { readXml } from "./xml.ts";

interface Note {
  text: string;
  author: string | null;
}

export type DocxNotes = ReturnType<typeof createDocxNotes>;

/**
 * Notes and comments of a text document: returns for each reference its mark and the text that follows the paragraph.
 */
export function createDocxNotes(part: (type: string) => Uint8Array | null) {
  const notes = {
    footnote: notesOf(part("footnotes"), "footnote"),
    endnote: notesOf(part("endnotes"), "endnote"),
    comment: notesOf(part("comments"), "comment"),
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

/** Returns the elements of this name in a part by their ids, each as one line. */
export function notesOf(content: Uint8Array | null, element: string): Map<string, Note> {
  const notes = new Map<string, Note>();
  let note: Note = { text: "", author: null };
  let [id, reading, hidden] = ["", false, 0];
  if (content === null) return notes;
  readXml(content, {
    open(name, attribute) {
      if (name === element) [id, note] = [attribute("id") ?? "", { text: "", author: attribute("author") }];
      // A fallback repeats the drawing for programs that cannot show it.
      if (name === "Fallback") hidden++;
      if (hidden > 0) return;
      reading = name === "t";
      if (name === "tab" || name === "br") note.text += " ";
      if (name === "noBreakHyphen") note.text += "-";
      if (name === "sym") note.text += symbolText(attribute);
      if (name === "shape") note.text += ` ${imageText(attribute("alt"))} `;
      if (name === "docPr") note.text += ` ${drawnImageText(attribute)} `;
      if (name === "textpath") note.text += ` ${attribute("string") ?? ""} `;
    },
    close(name) {
      reading = false;
      if (name === "Fallback") hidden--;
      if (name === "p") note.text += " ";
      if (name !== element) return;
      const text = note.text.replace(/\s+/g, " ").trim();
      if (text !== "") notes.set(id, { ...note, text });
    },
    text(text) {
      if (reading) note.text += text;
    },
  });
  return notes;
}
