import { DocumentError, unreadable } from "./document-error.ts";
import { isFlatPackage, openFlatPackage } from "./flat-package.ts";
import type { Outline } from "./outline.ts";
import { type PartReader, readXml } from "./xml.ts";
import { type Archive, openZip } from "./zip.ts";

// Our own readers: libraries for each format unpack all parts without a limit, and here one limit applies to all
// formats.

/** An Office archive and the relationships between its parts. */
export interface OfficeFile extends Archive {
  /** As `read`, but throws if the part is missing, because the document is invalid without it. */
  need(part: string): Uint8Array;
  /**
   * Returns the reader of a part beside the main one. It reads nothing if the part is missing. A damaged part costs its
   * own text only, and is recorded.
   */
  part(part: string): PartReader;
  /** As `read`, but a damaged part is recorded, and counts as missing. */
  bytesOf(part: string): Uint8Array | null;
  /** Parts by relationship id; `type` is the last word of the relationship's type. */
  related(part: string): Map<string, { type: string; part: string }>;
}

export function openOffice(bytes: Uint8Array, outline: Pick<Outline, "warn">): OfficeFile {
  refuseOldFormat(bytes);
  const archive = isFlatPackage(bytes) ? openFlatPackage(bytes) : openZip(bytes);
  const unlessDamaged = <T>(part: string, read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DocumentError) || error.code !== "document_unreadable") throw error;
      outline.warn("part_unreadable", `A part of the document is damaged. Text of it is missing: ${part}.`);
      return null;
    }
  };
  const bytesOf = (part: string) => unlessDamaged(part, () => archive.read(part));
  const file: OfficeFile = {
    ...archive,
    bytesOf,
    need(part) {
      const content = archive.read(part);
      if (content === null) throw unreadable(`It has no ${part}: it is another kind of file.`);
      return content;
    },
    part: (part) => (listener) => {
      const content = bytesOf(part);
      if (content !== null) unlessDamaged(part, () => readXml(content, listener));
    },
    related(part) {
      const slash = part.lastIndexOf("/") + 1;
      const [folder, name] = [part.slice(0, slash), part.slice(slash)];
      const found = new Map<string, { type: string; part: string }>();
      file.part(`${folder}_rels/${name}.rels`)({
        open(tag, attribute) {
          const [id, target] = [attribute("Id"), attribute("Target")];
          if (tag !== "Relationship" || id === null || target === null) return;
          // External targets are never loaded.
          if (attribute("TargetMode") === "External") return;
          const place = partBeside(part, target);
          const type = (attribute("Type") ?? "").split("/").at(-1) ?? "";
          found.set(id, { type, part: archive.has(place) ? place : unescapePath(place) });
        },
      });
      return found;
    },
  };
  return file;
}

/** Decodes the characters that an address escapes. */
export function unescapePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns the name of the main part: the one that the package names, else the usual one. */
export function mainPart(file: OfficeFile, usual: string): string {
  const named = [...file.related("").values()].find(({ type }) => type === "officeDocument")?.part;
  if (named !== undefined && file.has(named)) return named;
  if (file.has(usual)) return usual;
  return [...contentTypes(file)].find(([, type]) => mainType.test(type))?.[0] ?? usual;
}

const mainType =
  /(?:document|template|sheet|presentation|slideshow|addin)(?:\.macroEnabled|\.binary\.macroEnabled)?\.main(?:\+xml)?$/i;

/** Returns the content types of the parts that have one of their own. */
function contentTypes(file: OfficeFile): Map<string, string> {
  const types = new Map<string, string>();
  file.part("[Content_Types].xml")({
    open(name, attribute) {
      const part = attribute("PartName")?.replace(/^\//, "");
      if (name === "Override" && part !== undefined) types.set(part, attribute("ContentType") ?? "");
    },
  });
  return types;
}

type PackageFormat = "docx" | "xlsx" | "pptx" | "odf" | "epub";
const usualParts: [part: string, format: PackageFormat][] = [
  ["word/document.xml", "docx"],
  ["xl/workbook.xml", "xlsx"],
  ["ppt/presentation.xml", "pptx"],
  ["META-INF/container.xml", "epub"],
  ["content.xml", "odf"],
];

const iWorkParts = ["Index/Document.iwa", "index.apxl", "index.xml"];

/** Returns the format of a package by its main part, or null if that tells none. Throws if its text cannot be read. */
export function packageFormat(file: OfficeFile): PackageFormat | null {
  const main = mainPart(file, "");
  const type = [...contentTypes(file)].find(([part]) => part.toLowerCase() === main.toLowerCase())?.[1] ?? "";
  if (/sheet\.binary/i.test(type) || /workbook\.bin$/i.test(main) || file.has("xl/workbook.bin"))
    throw unreadable("It is a binary workbook (XLSB). Save it as XLSX.");
  if (/visio/i.test(type)) throw unreadable("It is a drawing of Visio. Save it as PDF.");
  if (/wordprocessingml|ms-word/.test(type)) return "docx";
  if (/spreadsheetml|ms-excel/.test(type)) return "xlsx";
  if (/presentationml|ms-powerpoint/.test(type)) return "pptx";
  const usual = usualParts.find(([part]) => file.has(part))?.[1] ?? null;
  if (usual === null && iWorkParts.some(file.has))
    throw unreadable("It is a document of Apple iWork. Export it as PDF, or to a format of Office.");
  return usual;
}

/** Resolves `target` relative to a part. The result is always a name in the archive, never a file path. */
export function partBeside(part: string, target: string): string {
  const path = target.replaceAll("\\", "/");
  const parts: string[] = path.startsWith("/") ? [] : part.split("/").slice(0, -1);
  for (const step of path.split("/").slice(0, 100)) {
    if (step === "..") parts.pop();
    else if (step !== "" && step !== ".") parts.push(step);
  }
  return parts.join("/");
}

/** Rejects a compound file: either an encrypted document or an Office format before 2007. */
function refuseOldFormat(bytes: Uint8Array): void {
  if (Buffer.from(bytes.buffer, bytes.byteOffset, 4).toString("hex") !== "d0cf11e0") return;
  if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(Buffer.from("EncryptedPackage", "utf16le"))) {
    throw new DocumentError("document_encrypted", "The document is encrypted.");
  }
  throw unreadable("It has a format of Office before 2007. Save it in a newer one.");
}
