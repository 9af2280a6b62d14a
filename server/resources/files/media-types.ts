import { imageTypes } from "../../domain/image-types.ts";
import { limits } from "../../domain/limits.ts";
import type { MediaPart } from "../../domain/run-input.ts";
import { isDocument } from "../../runtime/documents/file-type.ts";

const audioTypes: ReadonlySet<string> = new Set(["audio/wav", "audio/mpeg"]);

interface MediaFault {
  code: "validation_failed" | "unsupported_input";
  message: string;
}

/**
 * Returns why content cannot be shown to a model, by the type that its bytes have, or null. A stored file may be of any
 * type that a run takes.
 */
export function mediaFault(
  kind: MediaPart["type"],
  type: string,
  bytes: number,
  from: "sent" | "stored",
): MediaFault | null {
  if (kind === "image" && !imageTypes.has(type)) return wrongType("an image", "PNG, JPEG, WebP or GIF", type);
  if (kind === "audio" && !audioTypes.has(type)) return wrongType("a recording", "WAV or MP3", type);
  if (kind === "file" && from === "sent" && !isDocument(type) && !imageTypes.has(type))
    return wrongType("a document", "PDF, text, or an office format", type);
  const most = kind === "image" ? limits.image_bytes : kind === "audio" ? limits.audio_bytes : null;
  if (most === null || bytes <= most) return null;
  return { code: "validation_failed", message: `The ${kind} is larger than ${most} bytes.` };
}

const wrongType = (noun: string, expected: string, type: string): MediaFault => ({
  code: "unsupported_input",
  message: `Must be ${noun} (${expected}); by its content this is ${names[type] ?? type}.${advice(type)}`,
});

const names: Record<string, string> = {
  "application/octet-stream": "of an unknown type",
  "application/pdf": "a PDF",
  "image/svg+xml": "an SVG",
  "text/plain": "text",
  "text/html": "an HTML page",
};

function advice(type: string): string {
  if (imageTypes.has(type)) return " Send it as an image.";
  if (audioTypes.has(type)) return " Send it as audio.";
  if (type.startsWith("image/")) return " Convert it to PNG or JPEG.";
  if (type.startsWith("audio/") || type.startsWith("video/")) return " Convert it to MP3.";
  return type === "application/pdf" ? " Send it as a file." : "";
}
