import { attachmentBounds, ocrBounds } from "./bounds.ts";
import { encodingNamed } from "./code-pages.ts";
import { cleanText } from "./decode.ts";
import { DocumentError, TooNested } from "./document-error.ts";
import { headBytes, typeOfFile } from "./file-type.ts";
import { type DocumentFormat, formatOf } from "./formats.ts";
import { decodeDeclared } from "./mail-charset.ts";
import type { Ocr } from "./ocr.ts";
import type { Attachment, AttachmentReader, ParseOptions, ReadPart } from "./parse-options.ts";
import { partOutline } from "./part-outline.ts";
import { markedEncoding } from "./wide-encoding.ts";

/** Opens the reader of all attachments of a document, which share its limits however they nest. */
export function openAttachmentReader(
  readPart: ReadPart,
  options: ParseOptions,
  clock = processorTime_ms,
): AttachmentReader {
  const startedAt = clock();
  const time_ms = options.ocr === null ? attachmentBounds.time_ms : ocrBounds.time_ms;
  const isLate = () => clock() - startedAt > time_ms;
  let [depth, count, bytes, images] = [0, 0, 0, 0];

  function refusal({ content }: Attachment, format: unknown): string | null {
    if (!options.attachments) return "reading it took too long, or too much memory.";
    if (content.length === 0) return "it is empty.";
    if (format === null) return "no text is read from files of this type.";
    if (depth >= attachmentBounds.depth) return "it nests too deep.";
    if (count >= attachmentBounds.count) return `the message has more than ${attachmentBounds.count} attachments.`;
    if (bytes + content.length > attachmentBounds.bytes) return "the attachments are too large together.";
    return isLate() ? "the attachments before it took too long." : null;
  }

  /** Returns the OCR of an attachment, with the limits of all attachments together. */
  const ocrFor = (ocr: Ocr, skip: () => void): Ocr => {
    return (image) => {
      if (images++ < ocrBounds.pages && !isLate()) return ocr(image);
      skip();
      return [];
    };
  };

  return {
    async read(attachment, outline, given) {
      const level = Math.min(given, 5);
      const { content } = attachment;
      const name = cleanText(attachment.name).replace(/\s+/g, " ").trim().slice(0, 200) || attachment.type;
      outline.heading(level, `Attachment: ${name}`);
      const type = typeOfAttachment(attachment);
      const refused = refusal(attachment, formatOf(type));
      const warn = (reason: string) =>
        outline.warn("part_unreadable", `The attachment “${name}” was not read: ${reason}`);
      if (refused !== null) return warn(refused);
      count++;
      bytes += content.length;
      depth++;
      const inner = partOutline(outline, level, name);
      const { ocr } = options;
      const skip = () => inner.warn("pages_skipped", "Its images were not read: there are too many.");
      try {
        const { encoding } = options;
        const isDeclared = encoding === null && textFormats.has(formatOf(type) ?? "pdf");
        const text = isDeclared ? declaredText(attachment) : { bytes: content, encoding };
        await readPart(text.bytes, type, inner, { encoding: text.encoding, ocr: ocr && ocrFor(ocr, skip) });
      } catch (error) {
        if (!(error instanceof DocumentError)) throw error;
        if (error.code === "document_empty" && formatOf(type) === "image")
          outline.warn("image_without_text", `No text was found in the attached image “${name}”.`);
        else warn(lowerFirst(error.message));
      } finally {
        depth--;
      }
      outline.leave(level);
    },
    enter() {
      if (depth >= attachmentBounds.depth) throw new TooNested();
      depth++;
    },
    leave() {
      depth--;
    },
  };
}

/** Processor time, which limits the child too: on a busy machine wall time would cost attachments. */
function processorTime_ms(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Formats that do not define their encoding. */
const textFormats: ReadonlySet<DocumentFormat> = new Set(
  "text markdown code calendar html json jsonl csv".split(" ") as DocumentFormat[],
);

/**
 * Returns the text of an attachment in the encoding that the message declares, if its bytes can be that. Else the
 * encoding is null, and detected: many programs declare one without looking at the text.
 */
function declaredText({ content, charset }: Attachment): { bytes: Uint8Array; encoding: string | null } {
  const isDeclared = charset !== undefined && markedEncoding(content) === null;
  const found = isDeclared ? decodeDeclared(content, charset) : null;
  if (found === null) return { bytes: content, encoding: null };
  if (encodingNamed(found.encoding) !== null) return { bytes: content, encoding: found.encoding };
  // Only the reader of mail knows this encoding.
  return { bytes: Buffer.from(`\ufeff${found.text}`), encoding: null };
}

const lowerFirst = (text: string): string => text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());

/** Types that say only that content is text, or nothing of it. */
const vague = /^text\/plain$|^application\/(?:octet-stream|zip|x-ole-storage)$/;
const textual = /^text\/|[/+](?:xml|json|yaml|x-yaml|javascript|x-sh)$/;

/** Returns the type by the content, or else by the name, or else as the message declares it. */
export function typeOfAttachment({ name, type, content }: Pick<Attachment, "name" | "type" | "content">): string {
  const found = typeOfFile(name, content.subarray(0, headBytes));
  if (/^multipart\/(?!related)/.test(type) && vague.test(found)) return "message/rfc822";
  const best = vague.test(found) && formatOf(type) !== null ? type : found;
  if (formatOf(best) !== null) return best;
  return textual.test(best) || (textual.test(type) && vague.test(found)) ? "text/plain" : best;
}
