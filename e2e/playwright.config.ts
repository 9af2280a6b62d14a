import { defineConfig } from "@playwright/test";
import { browserPath } from "../scripts/browser-path.ts";

// Each test gets its own context in a browser with a new profile; the suites start their own servers.
export default defineConfig({
  testDir: ".",
  testMatch: "*.browser.ts",
  outputDir: "../dist/playwright",
  timeout: 180_000,
  // Generous for busy machines, so that the first lost expectation fails instead of the whole test.
  expect: { timeout: 30_000 },
  // Beside two suites of the server, two keep both cores of the smallest supported machine busy.
  workers: 2,
  forbidOnly: process.env.CI === "true",
  // A failed file runs once more, alone, after all others (scripts/test-runner.ts).
  retries: 0,
  use: {
    // The first start's certificate is self-signed.
    ignoreHTTPSErrors: true,
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    screenshot: "only-on-failure",
    // Recording a trace takes a quarter of the time: only the second run of a failed file has one.
    trace: "off",
    launchOptions: {
      executablePath: browserPath,
      // Containers run as root and have no GPU; the other flags keep the browser offline.
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
