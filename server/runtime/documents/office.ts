import { DocumentError, unreadable } from "./document-error.ts";
import { readXml } from "./xml.ts";
import { type Archive, openZip } from "./zip.ts";

// Our own readers: libraries for each format unpack all parts without a limit, and here one limit applies to all
// formats.

/** An Office archive and the relationships between its parts. */
export interface OfficeFile extends Archive {
  /** As `read`, but throws if the part is missing, because the document is invalid without it. */
  need(part: string): Uint8Array;
  /** Parts by relationship id; `type` is the last word of the relationship's type. */
  related(part: string): Map<string, { type: string; part: string }>;
}

export function openOffice(bytes: Uint8Array): OfficeFile {
  refuseOldFormat(bytes);
  const archive = openZip(bytes);
  return {
    read: archive.read,
    need(part) {
      const content = archive.read(part);
      if (content === null) throw unreadable(`It has no ${part}: it is another kind of file.`);
      return content;
    },
    related(part) {
      const slash = part.lastIndexOf("/") + 1;
      const [folder, name] = [part.slice(0, slash), part.slice(slash)];
      const found = new Map<string, { type: string; part: string }>();
      const relationships = archive.read(`${folder}_rels/${name}.rels`);
      if (relationships === null) return found;
      readXml(relationships, {
        open(tag, attribute) {
          const [id, target] = [attribute("Id"), attribute("Target")];
          if (tag !== "Relationship" || id === null || target === null) return;
          // External targets are never loaded.
          if (attribute("TargetMode") === "External") return;
          found.set(id, { type: (attribute("Type") ?? "").split("/").at(-1) ?? "", part: partBeside(part, target) });
        },
      });
      return found;
    },
  };
}

/** Resolves `target` relative to a part. The result is always a name in the archive, never a file path. */
export function partBeside(part: string, target: string): string {
  const parts: string[] = target.startsWith("/") ? [] : part.split("/").slice(0, -1);
  for (const step of target.split("/").slice(0, 100)) {
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
