/** A document being uploaded. */
export interface Document {
  file: File;
  name: string;
  /** Null until the upload is complete. */
  id: string | null;
}

/** Checked by file extension, because browsers know few of these media types. */
export const documentTypes = [".pdf", ".docx", ".xlsx", ".pptx", ".txt", ".md", ".csv", ".json", ".html"];
/** Maximum per message. */
export const mostDocuments = 5;
/** Maximum per conversation: each run gets this many of the newest documents. */
export const mostGiven = 10;
const most_bytes = 10 * 1024 * 1024;

/** Picks the supported documents among the files, and says why others are left out. */
export function readDocuments(files: readonly File[]): { taken: Document[]; refused: string | null } {
  const supportedFiles = files.filter(({ name }) => documentTypes.some((end) => name.toLowerCase().endsWith(end)));
  const fit = supportedFiles.filter(({ size }) => size > 0 && size <= most_bytes);
  const refused =
    supportedFiles.length < files.length
      ? "Only images and documents can be sent: PDF, Word, Excel, PowerPoint, text, Markdown, CSV, JSON or HTML."
      : fit.length < supportedFiles.length
        ? "A document may have up to 10 MB, and may not be empty."
        : null;
  return { taken: fit.map((file) => ({ file, name: file.name, id: null })), refused };
}
