import { existsSync } from "node:fs";

// The shell draws the same pages with a sixth less processor time: it has no windows, tabs or extensions to look after.
const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** The browser of tests, pictures and figures; CHROMIUM names another one. */
export const browserPath: string = process.env.CHROMIUM ?? browsers.find(existsSync) ?? browsers[0]!;
