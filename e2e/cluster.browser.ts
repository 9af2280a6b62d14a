import { expect, test } from "@playwright/test";
import { startPostgres } from "../server/testing/postgres.ts";
import { type Cluster, masterKey, startCluster } from "./cluster/nodes.ts";
import { runCommand } from "./harness.ts";
import { expectAccessible, recordFaults } from "./page-checks.ts";

// The cluster page, read through a node that leads nothing.
let cluster: Cluster;
const isThere = startPostgres.orSkipped("the page of a cluster");
test.beforeAll(async () => {
  if (isThere) cluster = await startCluster({ nodes: 2, lease_s: 30 });
});
test.afterAll(() => cluster?.[Symbol.asyncDispose]());

test("an owner sees the leader, the followers and the size, and the reason when they cannot be shown", async ({
  page,
}) => {
  test.setTimeout(120_000);
  if (!isThere) return;
  const complaints = recordFaults(page);
  const [email, password] = ["ada@example.com", "a long passphrase"];
  const env = { RUNNEL_CLUSTER: cluster.url, RUNNEL_MASTER_KEY: masterKey, RUNNEL_PASSWORD: password };
  expect(await runCommand(["admin", "create", email], { env })).toMatchObject({ code: 0 });
  const leader = await cluster.leader();
  const spare = cluster.nodes.find((node) => node !== leader)!;
  await page.goto(`${spare.url}/dashboard`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("tab", { name: "Cluster" }).click();
  const row = page.getByRole("row").filter({ hasText: "main" });
  await expect(row).toContainText(leader.url);
  await expect(row).toContainText("Healthy");
  await expect(row).toContainText("up to date");
  await expect(page.getByText("Last failover: none in 30 days")).toBeVisible();
  await expectAccessible(page, "cluster");
  expect(complaints).toEqual([]);
  await page.route("**/console/api/cluster", (route) =>
    route.fulfill({ status: 503, json: { error: { code: "cluster_unavailable", message: "It does not answer." } } }),
  );
  await expect(page.getByText("The cluster cannot be shown")).toBeVisible({ timeout: 20_000 });
  await page.unroute("**/console/api/cluster");
  await expect(page.getByText("The cluster cannot be shown")).toBeHidden({ timeout: 20_000 });
});
