import { existsSync } from "node:fs";

// The headless shell draws the same pages with a sixth less processor time, because it has no windows, tabs or
// extensions.
const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Path of the browser for tests, screenshots and benchmarks; CHROMIUM names another one. */
export const browserPath: string = process.env.CHROMIUM ?? browsers.find(existsSync) ?? browsers[0]!;
