import { Type } from "@sinclair/typebox";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { Viewer } from "../../http/auth.ts";
import { about } from "../../lib/schema.ts";
import { pageImageBounds } from "../../runtime/documents/bounds.ts";
import { isKnown } from "./content.ts";
import type { createPageImages } from "./page-images.ts";
import type { FileStore } from "./store.ts";

export type PageImages = Pick<ReturnType<typeof createPageImages>, "of">;

export const pageNumber = about(
  `The page, from 1. The first ${pageImageBounds.pages} pages of a PDF can be shown.`,
  Type.Integer({ minimum: 1, maximum: pageImageBounds.pages }),
);

/** Pages are drawn in steps of this many, so that a reader who scrolls begins a PDF few times. */
const step = 5;

interface PageOrder {
  files: Pick<FileStore, "get">;
  pageImages: PageImages;
  viewer: Viewer;
  id: string;
  number: string;
  request: Request;
}

/** Returns a page of a PDF as JPEG. Throws resource_not_found if there is no such page, else page_not_drawn. */
export async function pagePicture({ files, pageImages, viewer, id, number, request }: PageOrder): Promise<Response> {
  const { mime_type, pages, sha256 } = files.get(viewer, id);
  const page = /^[1-9]\d{0,3}$/.test(number) ? Number(number) : null;
  const last = Math.min(mime_type === "application/pdf" ? (pages ?? pageImageBounds.pages) : 0, pageImageBounds.pages);
  if (page === null || page > last) throw new AppError("resource_not_found", noSuch("page"));
  const etag = `"${sha256}-${page}"`;
  const headers = { etag, "cache-control": "private, no-cache", "cross-origin-resource-policy": "same-origin" };
  if (isKnown(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const count = Math.min(last, Math.ceil(page / step) * step);
  const image = (await pageImages.of(viewer, { file_id: id, count }))?.[page - 1];
  if (!image) throw new AppError("page_not_drawn", `Page ${page} cannot be drawn.`);
  return new Response(request.method === "HEAD" ? null : Uint8Array.fromBase64(image), {
    headers: { ...headers, "content-type": "image/jpeg", "x-content-type-options": "nosniff" },
  });
}
