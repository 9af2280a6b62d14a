import type { DocumentReport } from "../../domain/document-report.ts";
import { ownValue } from "../../lib/collections.ts";

/** Kinds of files, in plain words. Types of one kind may stand under each other's names. */
const kinds = {
  word: "a Word document",
  sheet: "an Excel workbook",
  slides: "a PowerPoint presentation",
  openText: "an OpenDocument text",
  openSheet: "an OpenDocument workbook",
  openSlides: "an OpenDocument presentation or drawing",
  pdf: "a PDF",
  rtf: "rich text (RTF)",
  page: "a web page (HTML)",
  archive: "a web archive (MIME)",
  mail: "an e-mail",
  book: "an e-book (EPUB)",
  table: "a table of text",
  text: "text",
  xml: "an XML file",
  image: "an image",
} as const;
type Kind = keyof typeof kinds;

const extensions: Record<string, Kind> = {
  ...kindOf("word", "doc docx docm dot dotx dotm"),
  ...kindOf("sheet", "xls xlsx xlsm xlsb xlt xltx xltm xlam"),
  ...kindOf("slides", "ppt pptx pptm pot potx potm pps ppsx ppsm"),
  ...kindOf("openText", "odt ott fodt odm"),
  ...kindOf("openSheet", "ods ots fods"),
  ...kindOf("openSlides", "odp otp fodp odg otg fodg"),
  ...kindOf("pdf", "pdf"),
  ...kindOf("rtf", "rtf"),
  ...kindOf("page", "html htm xhtml"),
  ...kindOf("archive", "mht mhtml"),
  ...kindOf("mail", "eml msg"),
  ...kindOf("book", "epub"),
  ...kindOf("table", "csv tsv"),
  ...kindOf("text", "txt log md markdown"),
  ...kindOf("image", "png jpg jpeg gif webp"),
};

const types: [RegExp, Kind][] = [
  [/wordprocessingml|ms-word/, "word"],
  [/spreadsheetml|ms-excel/, "sheet"],
  [/presentationml|ms-powerpoint/, "slides"],
  [/opendocument\.text/, "openText"],
  [/opendocument\.spreadsheet/, "openSheet"],
  [/opendocument\.(?:presentation|graphics)/, "openSlides"],
  [/^application\/pdf$/, "pdf"],
  [/rtf$/, "rtf"],
  [/html/, "page"],
  [/^multipart\/related$/, "archive"],
  [/^message\/rfc822$|ms-outlook/, "mail"],
  [/epub/, "book"],
  [/csv$|tab-separated/, "table"],
  [/^text\/(?:plain|(?:x-)?markdown)$/, "text"],
  [/^application\/xml$/, "xml"],
  [/^image\//, "image"],
];

/** Kinds that look alike, so that a program or a person may give one the name of the other. */
const alike = new Set(["table text", "text table"]);

/** Says that the content of a file is not of the kind that its name promises. Returns null if it is. */
function typeMismatch(filename: string, mimeType: string): string | null {
  const extension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? "";
  const promised = ownValue(extensions, extension);
  const found = types.find(([pattern]) => pattern.test(mimeType))?.[1];
  if (promised === undefined || found === undefined || promised === found) return null;
  if (alike.has(`${promised} ${found}`)) return null;
  return `The name ends in .${extension}, but by its content the file is ${kinds[found]}. It was read as that.`;
}

/** Adds the warning of a name that promises another kind of file to the report of its reader. */
export function withTypeMismatch(report: DocumentReport, filename: string, mimeType: string): DocumentReport {
  const message = typeMismatch(filename, mimeType);
  if (message === null) return report;
  return { ...report, warnings: [{ code: "type_mismatch", message, page: null }, ...report.warnings] };
}

function kindOf(kind: Kind, names: string): Record<string, Kind> {
  return Object.fromEntries(names.split(" ").map((name) => [name, kind]));
}
