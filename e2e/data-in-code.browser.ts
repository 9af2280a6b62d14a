import { expect, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// A question about a workbook, answered by programs in the compiled executable, and its chart in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

const makeWorkbook = `
import pandas as pd
rows = [("north", 10), ("south", 32), ("north", 5), ("west", 21), ("south", 8)]
pd.DataFrame(rows, columns=["region", "amount"]).to_excel("sales.xlsx", index=False)`;
const analyse = `
import pandas as pd, matplotlib.pyplot as plt
table = pd.read_excel("/input/sales.xlsx")
totals = table.groupby("region").amount.sum().sort_values()
totals.plot.barh(title="Sales by region", xlabel="amount")
plt.tight_layout()
plt.savefig("sales.png")
plt.savefig("sales.svg")
{"total": table.amount.sum(), "best": totals.index[-1]}`;

test("a question about an uploaded workbook is answered with numbers and a chart, which the playground shows", async ({
  page,
}, info) => {
  test.setTimeout(240_000);
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  const post = async (path: string, body: object) => (await server.post(`/v1${path}`, body)).body;
  const language = { language: "python", type: "code", timeout_ms: 60_000 };

  // The workbook comes from a program too, and is uploaded as a person would.
  const maker = await post("/tools", {
    name: "make",
    ...language,
    source: `def main(args):${makeWorkbook.replaceAll("\n", "\n    ")}`,
  });
  const made = await post(`/tools/${maker.id}/test`, { arguments: {} });
  const workbook = await (await server.fetch(`/v1/files/${made.output.files[0].id}/content`)).arrayBuffer();
  const form = new FormData();
  form.set("purpose", "code_interpreter");
  form.set("file", new File([workbook], "sales.xlsx"));
  const upload = await (await server.fetch("/v1/files", { method: "POST", body: form })).json();

  const tool = await post("/tools", { name: "run_python", ...language, files: [upload.id] });
  const script = [
    { tool_calls: [{ name: "run_python", arguments: { code: analyse } }] },
    { text: "The total is 76; the south sold most." },
  ];
  const agent = await post("/agents", {
    name: "Analyst",
    instructions: "Answer with numbers.",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });

  await page.goto(`${server.url}/dashboard/playground?agent=${agent.id}`);
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("How are sales by region?");
  await page.getByRole("button", { name: "Send" }).click();
  const run = page.getByRole("article", { name: "Run" });
  await expect(run.getByRole("status")).toHaveText("Completed", { timeout: 240_000 });
  const chart = run.getByRole("img", { name: "sales.png" });
  await expect.poll(() => chart.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(640);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page, `a chart, ${colorScheme}`);
    await expectToFit(page, `a chart, ${colorScheme}`);
    await page.screenshot({ path: info.outputPath(`chart-${colorScheme}.png`) });
  }
  const download = page.waitForEvent("download");
  await run.getByRole("button", { name: "sales.svg" }).click();
  expect((await download).suggestedFilename()).toBe("sales.svg");

  const [stored] = (await (await server.fetch("/v1/runs?limit=1")).json()).data;
  const { tool_calls } = await (await server.fetch(`/v1/runs/${stored.id}`)).json();
  expect(tool_calls[0].output.result).toEqual({ total: 76, best: "south" });
  expect(complaints).toEqual([]);
});
