import { defineConfig } from "@playwright/test";
import { browserPath } from "../scripts/browser-path.ts";

// Each test gets a context of its own in a browser with a new profile; the suites start their own servers.
export default defineConfig({
  testDir: ".",
  testMatch: "*.browser.ts",
  outputDir: "../dist/playwright",
  timeout: 60_000,
  // For machines that do other things too: the first that is lost says so, instead of the whole story.
  expect: { timeout: 15_000 },
  // A story waits more than it works: two share the two cores of the smallest machine that this is for.
  workers: 2,
  forbidOnly: process.env.CI === "true",
  // Told as flaky in the report: a browser on a machine that is shared loses a click now and then.
  retries: process.env.CI === "true" ? 1 : 0,
  reporter: process.env.CI === "true" ? [["list"], ["junit"]] : [["list"]],
  use: {
    // The first start's certificate is signed by itself.
    ignoreHTTPSErrors: true,
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    screenshot: "only-on-failure",
    // A record of every act takes a quarter of the time: only a repetition has it, or whoever asks for it by --trace=on.
    trace: "on-first-retry",
    launchOptions: {
      executablePath: browserPath,
      // Containers run as root and have no GPU; the rest keeps the browser from calling home.
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
