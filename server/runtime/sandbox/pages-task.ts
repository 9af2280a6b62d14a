import { imageSize } from "../../domain/image-size.ts";
import { imageTypeOf } from "../../domain/image-types.ts";
import { pageImageBounds } from "../documents/bounds.ts";
import { encodeFrameHeader } from "./frame-header.ts";
import type { Packet } from "./packet.ts";
import type { Task } from "./task.ts";

/** Head of a PDF sent to a child; its bytes follow. */
export interface PagesHead {
  bytes: number;
  /** Number of pages to draw, from the first. */
  count: number;
}

export interface PagesOrder extends PagesHead {
  /** Iterated when a child reads it. */
  content: Iterable<Uint8Array>;
}

/** Images by page, from the first; null for a page that cannot be drawn. Pages for which there was no time are missing. */
export type PageImages = (Uint8Array | null)[];

/** Returns the task of drawing pages. If the child dies, its outcome is the pages drawn until then. */
export function pagesTask({ bytes, count, content }: PagesOrder): Task<PageImages> {
  const images: PageImages = [];
  let isWhole = false;
  const megabytes = bytes / 2 ** 20;
  return {
    timeout_ms: 2 * pageImageBounds.time_ms,
    timed_by: "processor",
    memory_mb: Math.round(400 + 4 * megabytes),
    late_message: "The pages could not be drawn in time.",
    memory_message: "The pages need too much memory.",
    output_max_bytes: (count + 1) * (pageImageBounds.bytes + 1024),
    order: [encodeFrameHeader({ bytes, count } satisfies PagesHead)],
    content,
    content_bytes: bytes,
    onPacket({ kind, payload }: Packet) {
      if (isWhole) throw new Error(`${kind} is out of turn.`);
      if (kind === "ended") isWhole = true;
      else if (kind === "image" && images.length < count) images.push(readImage(payload));
      else throw new Error(`${kind} is none of a PDF's pages.`);
    },
    isComplete: () => isWhole,
    outcome: () => images,
  };
}

/** Checks an image of the child, which a hostile PDF may have taken over. */
function readImage(payload: Uint8Array): Uint8Array | null {
  if (payload.length === 0) return null;
  const { width, height } = imageSize(payload) ?? { width: 0, height: 0 };
  const isImage = imageTypeOf(payload) === "image/jpeg" && width > 0 && height > 0;
  if (!isImage || Math.max(width, height) > pageImageBounds.side || payload.length > pageImageBounds.bytes)
    throw new Error("The child's image is none.");
  return payload;
}
