import type { Page, Request } from "@playwright/test";

const quietLooks = 3;
const mostLooks = 100;

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
    for (let quiet = 0, looks = 0; quiet < quietLooks; looks++) {
      if (looks === mostLooks) throw new Error(`Never at rest: ${[...underWay].map((request) => request.url())}`);
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 200 })));
      quiet = underWay.size ? 0 : quiet + 1;
    }
  };
}

const isStream = (request: Request): boolean => request.headers().accept === "text/event-stream";
