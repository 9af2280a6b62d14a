import { docsFinder } from "../../server/lib/docs-search.ts";

declare global {
  interface Window {
    /** The search of the documentation; `site.js` loads it with the first question. */
    runnelDocsFinder: typeof docsFinder;
  }
}

window.runnelDocsFinder = docsFinder;
