import type { Page, Request } from "@playwright/test";

const quietLooks = 3;
const patience_ms = 10_000;

/**
 * Follows what a page asks for. The answer waits until nothing that the page shows is on its way any more; live streams
 * stay open, so the network as a whole is never idle.
 */
export function followRequests(page: Page): () => Promise<void> {
  const underWay = new Set<Request>();
  page.on("request", (request) => void (isStream(request) || underWay.add(request)));
  page.on("requestfinished", (request) => void underWay.delete(request));
  page.on("requestfailed", (request) => void underWay.delete(request));
  return async () => {
    await page.locator("h1, h2, [role=alert] > *").filter({ visible: true }).first().waitFor();
    await page.waitForFunction(() => document.querySelector(".skeleton, [role=status][aria-label^=Loading]") === null);
    // What has come may ask for more.
    for (let quiet = 0; quiet < quietLooks; quiet++) {
      if (underWay.size > 0) {
        await oneMoreEnded(page).catch(() => underWay.clear()); // The end of what a cache answers is lost now and then.
        quiet = -1;
      }
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 200 })));
    }
  };
}

/** Data that never comes is told by the skeleton in its place. */
const oneMoreEnded = (page: Page): Promise<unknown> =>
  Promise.race([
    page.waitForEvent("requestfinished", { timeout: patience_ms }),
    page.waitForEvent("requestfailed", { timeout: patience_ms }),
  ]);

const isStream = (request: Request): boolean => request.headers().accept === "text/event-stream";
