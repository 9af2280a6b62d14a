// Open WebUI against the executable, unmodified: its page in a real browser, with an agent as its model, whose answer
// streams. It takes 7.3 GB and a quarter of an hour to install, so no suite runs it: `bun scripts/open-webui.ts`, with
// dist/runnel and Chromium. It needs python3.11 or 3.12 with venv (PYTHON names one); OPEN_WEBUI names an environment
// that has it already. If it is unavailable, it says so and exits with 0.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, expect, type Page } from "@playwright/test";
import { createScripted } from "../e2e/fixtures.ts";
import { startRunnel } from "../e2e/harness.ts";
import { freePort } from "../server/testing/free-port.ts";
import { browserPath } from "./browser-path.ts";
import { pythonWith } from "./python-tool.ts";

const version = "0.12.4";
const patience_ms = 300_000;

const programs = process.env.OPEN_WEBUI
  ? join(process.env.OPEN_WEBUI, "bin")
  : await pythonWith(`open-webui-${version}`, [`open-webui==${version}`]);
if (!programs) {
  console.log(`Open WebUI: skipped, since ${version} cannot be installed here (it needs python3 with venv, and PyPI).`);
  process.exit(0);
}

await using server = await startRunnel();
const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
const agent = await createScripted(server, [{ text: words, delta_ms: 100 }]);
const certificate = join(server.folder, "ca.pem");
writeFileSync(certificate, server.ca ?? "");

const port = String(freePort());
const client = Bun.spawn([join(programs, "open-webui"), "serve", "--host", "127.0.0.1", "--port", port], {
  cwd: server.folder,
  env: {
    PATH: process.env.PATH,
    HOME: server.folder,
    DATA_DIR: join(server.folder, "open-webui"),
    WEBUI_AUTH: "False",
    OPENAI_API_BASE_URL: `${server.url}/openai/v1`,
    OPENAI_API_KEY: server.keys.test,
    SSL_CERT_FILE: certificate,
    // One connection only: no other models, no downloads, and no model calls beside the user's.
    ENABLE_OLLAMA_API: "False",
    RAG_EMBEDDING_ENGINE: "openai",
    OFFLINE_MODE: "True",
    ENABLE_TITLE_GENERATION: "False",
    ENABLE_TAGS_GENERATION: "False",
    ENABLE_FOLLOW_UP_GENERATION: "False",
  },
  stdin: "ignore",
  stdout: Bun.file(join(server.folder, "open-webui.log")),
  stderr: Bun.file(join(server.folder, "open-webui.log")),
});
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  await started(`http://127.0.0.1:${port}/health`);
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await converse(page);
  const { body } = await server.get(`/v1/runs?agent_id=${agent}`);
  expect(body.data.map(({ status, output }: { status: string; output: string }) => [status, output])).toEqual([
    ["completed", words],
  ]);
  console.log(`Open WebUI ${version}: an agent is in its list, and its answer streamed into the page.`);
} catch (error) {
  console.error(await Bun.file(join(server.folder, "open-webui.log")).text());
  throw error;
} finally {
  await browser.close();
  client.kill();
  await client.exited;
}

async function started(url: string): Promise<void> {
  const end = performance.now() + patience_ms;
  for (;;) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (client.exitCode !== null || performance.now() > end) throw new Error("Open WebUI did not start.");
    await Bun.sleep(500);
  }
}

/** Asks the agent, and waits until its answer grows. */
async function converse(page: Page): Promise<void> {
  await page.goto(`http://127.0.0.1:${port}/?models=${agent}`);
  // The release notes are shown once, in front of the page.
  await page.getByRole("button", { name: "Okay, Let's Go!" }).click();
  const input = page.locator("#chat-input");
  await input.click();
  await input.pressSequentially("Count.");
  await page.keyboard.press("Enter");
  await expect(page.getByText("word5")).toBeVisible({ timeout: 60_000 });
  expect(await page.getByText("word39").count()).toBe(0);
  await expect(page.getByText("word39")).toBeVisible({ timeout: 60_000 });
}
