import type { Page, Request } from "@playwright/test";

const quietLooks = 3;
const patience_ms = 10_000;

/**
 * Tracks the requests of a page. The returned function resolves once nothing visible is loading; streams may stay open,
 * so "network idle" never happens.
 */
export function followRequests(page: Page): () => Promise<void> {
  const underWay = new Set<Request>();
  page.on("request", (request) => void (isStream(request) || underWay.add(request)));
  page.on("requestfinished", (request) => void underWay.delete(request));
  page.on("requestfailed", (request) => void underWay.delete(request));
  return async () => {
    await page.locator("h1, h2, [role=alert] > *").filter({ visible: true }).first().waitFor();
    await page.waitForFunction(() => document.querySelector(".skeleton, [role=status][aria-label^=Loading]") === null);
    // A response may trigger more requests.
    for (let quiet = 0; quiet < quietLooks; quiet++) {
      if (underWay.size > 0) {
        // The browser sometimes reports no end for a response from its cache.
        await oneMoreEnded(page).catch(() => underWay.clear());
        quiet = -1;
      }
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 200 })));
    }
  };
}

/** Resolves when one more request ends. Data that never arrives stays visible as a skeleton. */
const oneMoreEnded = (page: Page): Promise<unknown> =>
  Promise.race([
    page.waitForEvent("requestfinished", { timeout: patience_ms }),
    page.waitForEvent("requestfailed", { timeout: patience_ms }),
  ]);

const isStream = (request: Request): boolean => request.headers().accept === "text/event-stream";
