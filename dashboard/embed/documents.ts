/** A document on its way. */
export interface Document {
  file: File;
  name: string;
  /** Once the server has it. */
  id: string | null;
}

/** By the ends of their names: browsers know the types of few of them. */
export const documentTypes = [".pdf", ".docx", ".xlsx", ".pptx", ".txt", ".md", ".csv", ".json", ".html"];
/** Of one message. */
export const mostDocuments = 5;
/** Of a conversation: so many of the newest are given to each run. */
export const mostGiven = 10;
const most_bytes = 10 * 1024 * 1024;

/** The documents among some files, and why others are left out. */
export function readDocuments(files: readonly File[]): { taken: Document[]; refused: string | null } {
  const known = files.filter(({ name }) => documentTypes.some((end) => name.toLowerCase().endsWith(end)));
  const fit = known.filter(({ size }) => size > 0 && size <= most_bytes);
  const refused =
    known.length < files.length
      ? "Only images and documents can be sent: PDF, Word, Excel, PowerPoint, text, Markdown, CSV, JSON or HTML."
      : fit.length < known.length
        ? "A document may have up to 10 MB, and may not be empty."
        : null;
  return { taken: fit.map((file) => ({ file, name: file.name, id: null })), refused };
}
