import { defineConfig } from "@playwright/test";

// Each test gets a context of its own in a browser with a new profile; the suites start their own servers.
export default defineConfig({
  testDir: ".",
  testMatch: "*.browser.ts",
  outputDir: "../dist/playwright",
  timeout: 60_000,
  workers: 1,
  forbidOnly: process.env.CI === "true",
  reporter: process.env.CI === "true" ? [["list"], ["junit"]] : [["list"]],
  use: {
    // The first start's certificate is signed by itself.
    ignoreHTTPSErrors: true,
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
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
