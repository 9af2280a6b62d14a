import { pageImageBounds } from "../documents/bounds.ts";
import { loadPdfium, openDrawer } from "../documents/draw-pages.ts";
import { serveContent } from "./child-output.ts";
import type { DropPrivileges } from "./drop-privileges.ts";
import { encodePacket } from "./packet.ts";
import type { PagesHead } from "./pages-task.ts";
import { writeOutput } from "./pipes.ts";

/** Runs a child that draws the first pages of one PDF, writes them as images and exits. */
export async function servePages(dropPrivileges: DropPrivileges): Promise<never> {
  await loadPdfium();
  return serveContent<PagesHead>(dropPrivileges, (bytes, head) => draw(bytes, head));
}

/** Writes an image for each page, which is empty if the page is damaged; fewer if there is no time. */
async function draw(bytes: Uint8Array, { count }: PagesHead): Promise<null> {
  const startedAt = performance.now();
  const drawer = await openDrawer(bytes).catch(() => null);
  const most = Math.min(count, drawer?.pages ?? 0);
  for (let page = 1; page <= most && performance.now() - startedAt < pageImageBounds.time_ms; page++) {
    const image = await drawer?.picture(page).catch(() => null);
    const fits = image && image.length <= pageImageBounds.bytes;
    writeOutput(encodePacket("image", fits ? image : undefined));
  }
  return null;
}
