import { ocrBounds } from "../documents/bounds.ts";
import type { PagesDone } from "../documents/pages-done.ts";
import type { Paragraphs, Scans } from "../documents/scans.ts";
import type { OcrNeed } from "./document-task.ts";
import type { ScanEnd, ScanOrder } from "./scan-task.ts";

interface ScanBatches {
  /** Reads pages in a child of their own. */
  perform: (batch: Pick<ScanOrder, "pages" | "onPage">) => Promise<ScanEnd>;
  onPages: PagesDone;
  /** Takes room for one more child, and returns a function that gives it back; null if there is none. */
  takeRoom: () => (() => void) | null;
  isStopped: () => boolean;
  clock?: () => number;
}

type Failure = Pick<ScanEnd, "fault" | "why">;

/**
 * Reads the pages of a document with OCR: a few in each child, one child always, and more while there is room. A child
 * that dies costs only the page that it was reading, and only if that page also ends another child. Returns how it
 * failed if it read no page.
 */
export async function readInBatches(
  { scans, pages }: OcrNeed,
  { perform, onPages, takeRoom, isStopped, clock = () => performance.now() }: ScanBatches,
): Promise<Scans | Failure> {
  const queue = scans.slice(0, ocrBounds.pages);
  const read = new Map<number, Paragraphs>();
  const tries = new Map<number, number>();
  const lost: number[] = [];
  const helpers = new Set<Promise<void>>();
  const startedAt = clock();
  let computed_ms = 0;
  let failure: Failure | null = null;
  const isOver = () =>
    isStopped() ||
    Boolean(failure?.fault) ||
    computed_ms > ocrBounds.time_ms ||
    clock() - startedAt > ocrBounds.wall_ms;

  async function readBatch(): Promise<void> {
    const batch = queue.splice(0, ocrBounds.batch);
    const onPage = (page: number, paragraphs: Paragraphs) => {
      read.set(page, paragraphs);
      onPages(pages - scans.length + read.size, pages);
    };
    const end = await perform({ pages: batch, onPage });
    computed_ms += end.computed_ms;
    const [failed, ...others] = batch.filter((page) => !read.has(page));
    if (failed === undefined) return;
    failure = end;
    queue.unshift(...others);
    tries.set(failed, (tries.get(failed) ?? 0) + 1);
    // In a batch of its own at the end, if it has another attempt.
    if (tries.get(failed) === ocrBounds.tries) lost.push(failed);
    else queue.push(failed);
  }

  function callHelpers(): void {
    while (queue.length > 0 && helpers.size + 1 < ocrBounds.children && !isOver()) {
      const giveBack = takeRoom();
      if (giveBack === null) return;
      const helper = readBatch().finally(() => {
        helpers.delete(helper);
        giveBack();
        callHelpers();
      });
      helper.catch(() => {}); // It is awaited below.
      helpers.add(helper);
    }
  }

  try {
    while (!isOver() && (queue.length > 0 || helpers.size > 0)) {
      const own = queue.length > 0 ? readBatch() : Promise.race(helpers);
      callHelpers();
      await own;
    }
    await Promise.all(helpers);
  } finally {
    await Promise.allSettled(helpers);
  }
  if (failure && read.size === 0) return failure;
  const left = scans.filter((page) => !read.has(page) && !lost.includes(page));
  return { read, left, lost: lost.toSorted((a, b) => a - b) };
}
