import { nameOf, type Scope } from "../../domain/scope.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import type { DocumentReader } from "../../runtime/sandbox/document-reader.ts";
import type { BlobReader } from "../../storage/db/file-blobs.ts";

interface PageImagesOptions {
  /** Returns the hash of a file's content; null if the file is gone. */
  find(scope: Scope, id: string): { sha256: string } | null;
  blobs: Pick<BlobReader, "open">;
  reader: Pick<DocumentReader, "draw">;
  /** Milliseconds without a call until all images are dropped. */
  idle_ms?: number;
}

/** Base64 by page, from the first; null for a page that could not be drawn. */
type PageImages = readonly (string | null)[];

interface Drawn {
  /** How many pages were asked for. */
  count: number;
  images: Promise<PageImages>;
  /** Characters of all images; 0 while they are drawn. */
  size: number;
}

/** Most characters of images that are kept, because each call of a run sends them again. */
const keptMost = 48 * 2 ** 20;

/** Draws the first pages of PDFs for models, a few documents at a time. */
export function createPageImages({ find, blobs, reader, idle_ms = 600_000 }: PageImagesOptions) {
  const queue = createFairQueue({ count: 3, reserve: 1 });
  const closing = new AbortController();
  /** By content, the least recently used first. Those being drawn are here too. */
  const kept = new Map<string, Drawn>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function trim(): void {
    let size = [...kept.values()].reduce((sum, one) => sum + one.size, 0);
    for (const [key, one] of kept) {
      if (size <= keptMost) break;
      kept.delete(key);
      size -= one.size;
    }
  }

  function draw(scope: Scope, sha256: string, count: number): Promise<PageImages> {
    return queue.run(nameOf(scope), closing.signal, async () => {
      const content = blobs.open(scope, sha256);
      if (!content) return [];
      const order = { bytes: content.bytes, count, content: { [Symbol.iterator]: () => content.read() } };
      return (await reader.draw(order, closing.signal)).map((image) => image?.toBase64() ?? null);
    });
  }

  function begin(key: string, scope: Scope, sha256: string, count: number): Drawn {
    const entry: Drawn = { count, images: draw(scope, sha256, count), size: 0 };
    entry.images.then(
      (images) => {
        entry.size = images.reduce((sum, image) => sum + (image?.length ?? 0), 0);
        trim();
      },
      () => {
        if (kept.get(key) === entry) kept.delete(key);
      },
    );
    return entry;
  }

  return {
    /** Returns the images of a PDF's first pages, fewer if there was no time for all; null if the file is gone. */
    async of(scope: Scope, { file_id, count }: { file_id: string; count: number }): Promise<PageImages | null> {
      const file = find(scope, file_id);
      if (file === null) return null;
      const key = `${nameOf(scope)} ${file.sha256}`;
      const known = kept.get(key);
      const entry = known && known.count >= count ? known : begin(key, scope, file.sha256, count);
      kept.delete(key);
      kept.set(key, entry);
      clearTimeout(timer);
      timer = setTimeout(() => kept.clear(), idle_ms).unref();
      return (await entry.images).slice(0, count);
    },
    stop(): void {
      clearTimeout(timer);
      closing.abort();
      kept.clear();
    },
  };
}
