import { type Locator, type Page, expect as plain, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { type Documents, largeDocument, petsDocument, serveDocuments } from "./openapi-documents.ts";
import { expectAccessible, expectToFit, signInBeforeEach } from "./page-checks.ts";

/** Documents are read in a process of their own, which starts late on a busy machine. */
const expect = plain.configure({ timeout: 60_000 });

let server: Runnel;
let documents: Documents;
test.beforeAll(async () => {
  documents = await serveDocuments();
  server = await startRunnel({ flags: ["--egress-allow", "127.0.0.1"] });
});
test.afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  documents?.stop();
});
signInBeforeEach(() => server);

async function openImport(page: Page): Promise<Locator> {
  await page.goto(`${server.url}/dashboard/tools`);
  await page.getByRole("button", { name: "Import API" }).click();
  return page.getByRole("dialog");
}

const operations = (dialog: Locator) => dialog.getByRole("region", { name: "Operations" });

test("a document at an address becomes tools, with the secret of its scheme, and again shows what changed", async ({
  page,
}) => {
  test.setTimeout(300_000);
  const dialog = await openImport(page);
  const address = `${documents.url}/pets.yaml`;

  await test.step("errors stand at the field, and nothing that was entered is lost", async () => {
    await dialog.getByRole("button", { name: "Read document" }).click();
    const field = dialog.getByLabel("Address of the document");
    await expect(field).toHaveAccessibleDescription("Enter an address.");
    for (const [path, reason] of [
      ["/missing", /answered with 404/],
      ["/page.html", /not.*(JSON|YAML|OpenAPI)/i],
    ] as const) {
      await field.fill(documents.url + path);
      await dialog.getByRole("button", { name: "Read document" }).click();
      await expect(field).toHaveAccessibleDescription(reason);
      await expect(field).toHaveValue(documents.url + path);
    }
    await expectAccessible(page, "a document that cannot be read");
    await field.fill(address);
    await dialog.getByRole("button", { name: "Read document" }).click();
  });

  await test.step("server and authentication are asked for, and a new secret is set", async () => {
    await expect(dialog.getByRole("heading", { name: "Pets" })).toBeVisible();
    await expect(dialog.getByLabel("Server", { exact: true })).toHaveValue(`${documents.url}/v1`);
    await expectAccessible(page, "settings of an import");
    await expectToFit(page, "settings of an import");
    await dialog.getByLabel("OAuth client or secret for token (optional)").fill("PETS_TOKEN");
    await dialog.getByRole("button", { name: "Show operations" }).click();
    await expect(dialog.getByLabel("Value of PETS_TOKEN")).toHaveAccessibleDescription("Enter its value.");
    await dialog.getByLabel("Value of PETS_TOKEN").fill("pets-token-1");
    await dialog.getByRole("button", { name: "Show operations" }).click();
  });

  await test.step("each operation says what it becomes, or why it cannot be a tool", async () => {
    await expect(operations(dialog).getByRole("listitem")).toHaveCount(6);
    await expect(operations(dialog)).toContainText("OPTIONS");
    await expect(dialog.getByRole("checkbox", { name: "Import optionsOfPets" })).toBeDisabled();
    await operations(dialog)
      .getByRole("button", { name: /^addPhoto/ })
      .click();
    await expect(operations(dialog)).toContainText(`POST ${documents.url}/v1/pets/{id}/photo`);
    await expect(operations(dialog)).toContainText("string, required, in multipart file");
    await expect(operations(dialog)).toContainText("token: PETS_TOKEN");
    await expectAccessible(page, "operations of a document");
    await expectToFit(page, "operations of a document");
  });

  await test.step("the search finds some, and the choice survives the way back", async () => {
    await dialog.getByRole("searchbox", { name: "Search operations" }).fill("photo");
    await expect(operations(dialog).getByRole("checkbox", { name: /^Import / })).toHaveCount(1);
    await dialog.getByRole("checkbox", { name: "Import addPhoto" }).uncheck();
    await dialog.getByRole("searchbox", { name: "Search operations" }).fill("");
    await dialog.getByRole("button", { name: "Back" }).click();
    await expect(dialog.getByLabel("Address of the document")).toHaveValue(address);
    await dialog.getByRole("button", { name: "Read document" }).click();
    await expect(dialog.getByLabel("OAuth client or secret for token (optional)")).toHaveValue("PETS_TOKEN");
    await dialog.getByRole("button", { name: "Show operations" }).click();
    await expect(dialog.getByRole("checkbox", { name: "Import addPhoto" })).not.toBeChecked();
    await expect(dialog.getByRole("checkbox", { name: "Import findPets" })).toBeChecked();
    await dialog.getByRole("button", { name: "Create 2 tools" }).click();
  });

  await test.step("the result names each tool, which sends the secret", async () => {
    await expect(dialog).toContainText("2 created · 0 updated · 0 unchanged · 0 failed");
    await expectAccessible(page, "result of an import");
    await dialog.getByRole("button", { name: "Close" }).click();
    const [tool] = (await server.get("/v1/tools?name=findPets")).body.data;
    const { status } = await server.post(`/v1/tools/${tool.id}/test`, { arguments: {} });
    expect(status).toBe(200);
    expect(documents.authorizations).toContain("Bearer pets-token-1");
    const [other] = (await server.get("/v1/tools?name=getPet")).body.data;
    await server.fetch(`/v1/tools/${other.id}`, {
      method: "PATCH",
      body: JSON.stringify({ description: "By hand." }),
    });
  });

  await test.step("imported again, it shows the difference of each tool before it is applied", async () => {
    documents.set("/pets.yaml", petsDocument(documents.url, { summary: "Finds all pets." }));
    await openImport(page);
    await dialog.getByLabel("Address of the document").fill(address);
    await dialog.getByRole("button", { name: "Read document" }).click();
    await dialog.getByLabel("OAuth client or secret for token (optional)").fill("PETS_TOKEN");
    await dialog.getByRole("button", { name: "Show operations" }).click();
    await expect(dialog.getByRole("checkbox", { name: "Import findPets" })).toBeChecked();
    // An update would replace what a person wrote, so that is not proposed.
    await expect(dialog.getByRole("checkbox", { name: "Import getPet" })).not.toBeChecked();
    await expect(operations(dialog).getByRole("button", { name: /^getPet.*edited/ })).toBeVisible();
    await operations(dialog)
      .getByRole("button", { name: /^findPets/ })
      .click();
    await expect(operations(dialog).locator("del").filter({ hasText: "by their tags" })).toBeVisible();
    await expect(operations(dialog).locator("ins").filter({ hasText: "all" })).toBeVisible();
    await expectAccessible(page, "difference of a tool");
  });

  await test.step("a document that changes while it is looked at is not imported, but shown as it is now", async () => {
    documents.set("/pets.yaml", petsDocument(documents.url, { summary: "Finds each pet." }));
    await dialog.getByRole("button", { name: "Update 1 tool" }).click();
    await expect(dialog.getByRole("alert")).toContainText("has changed since its operations were shown");
    await expectAccessible(page, "a document that has changed");
    expect((await server.get("/v1/tools?name=findPets")).body.data[0].description).toBe("Finds pets by their tags.");
    await dialog.getByRole("button", { name: "Show them as they are now" }).click();
    await expect(dialog.getByRole("alert")).toHaveCount(0);
    await expect(operations(dialog).locator("ins").filter({ hasText: "each" })).toBeVisible();
    await dialog.getByRole("button", { name: "Update 1 tool" }).click();
    await expect(dialog).toContainText("0 created · 1 updated");
    await dialog.getByRole("button", { name: "Close" }).click();
    const description = async (name: string) => (await server.get(`/v1/tools?name=${name}`)).body.data[0].description;
    expect(await description("findPets")).toBe("Finds each pet.");
    expect(await description("getPet")).toBe("By hand.");
  });
});

test("a file or a pasted text is read, one that is none is refused in place, and closing asks first", async ({
  page,
}) => {
  test.setTimeout(300_000);
  const dialog = await openImport(page);
  const chooseFile = (name: string, content: string | Buffer) =>
    dialog.getByLabel("OpenAPI document").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content) });
  const read = () => dialog.getByRole("button", { name: "Read document" }).click();

  await test.step("bad files", async () => {
    await dialog.getByText("File", { exact: true }).click();
    await read();
    await expect(dialog.getByRole("alert")).toHaveText("Choose a file.");
    await chooseFile("empty.json", "");
    await read();
    await expect(dialog.getByRole("alert")).toHaveText("empty.json is empty.");
    await chooseFile("picture.png", Buffer.from([0x89, 0x50, 0xff, 0xfe]));
    await read();
    await expect(dialog.getByRole("alert")).toContainText("picture.png is not a text in UTF-8.");
    await chooseFile("list.json", "[1, 2]");
    await read();
    await expect(dialog.getByRole("alert")).toHaveText("The document is not an object.");
    await expect(dialog).toContainText("list.json");
  });

  await test.step("a text that was pasted stays over an error and over another source", async () => {
    await dialog.getByText("Text", { exact: true }).click();
    await dialog.getByLabel("Document", { exact: true }).fill("openapi: [");
    await read();
    await expect(dialog.getByLabel("Document", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await dialog.getByText("Address", { exact: true }).click();
    await dialog.getByText("Text", { exact: true }).click();
    await expect(dialog.getByLabel("Document", { exact: true })).toHaveValue("openapi: [");
    await page.keyboard.press("Escape");
    await page.getByRole("alertdialog").getByRole("button", { name: "Keep editing" }).click();
    await expect(dialog.getByLabel("Document", { exact: true })).toHaveValue("openapi: [");
  });

  await test.step("a file without a server asks for one", async () => {
    await dialog.getByText("File", { exact: true }).click();
    await chooseFile(
      "noserver.json",
      JSON.stringify({ openapi: "3.0.3", info: { title: "Shop", version: "1" }, paths: { "/orders": { get: {} } } }),
    );
    await read();
    await expect(dialog.getByText("The document names no server.")).toBeVisible();
    await dialog.getByRole("button", { name: "Show operations" }).click();
    await expect(dialog.getByLabel("Server", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Server", { exact: true }).fill("https://shop.example.com");
    await dialog.getByRole("button", { name: "Show operations" }).click();
    await dialog.getByRole("button", { name: "Create 1 tool" }).click();
    await expect(dialog).toContainText("1 created");
  });
});

test("of a document with more than a thousand operations only those in sight are rendered, and one is found at once", async ({
  page,
}) => {
  test.setTimeout(300_000);
  const dialog = await openImport(page);
  await dialog.getByText("File", { exact: true }).click();
  await dialog
    .getByLabel("OpenAPI document")
    .setInputFiles({ name: "large.json", mimeType: "", buffer: Buffer.from(largeDocument()) });
  await dialog.getByRole("button", { name: "Read document" }).click();
  await expect(dialog).toContainText("1,200 new");
  await expect(dialog.getByText("0 of 1,200 chosen · at most 500 per import")).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Import", exact: true })).toBeDisabled();
  await operations(dialog)
    .getByRole("button", { name: /^Group 0/ })
    .click();
  expect(await operations(dialog).getByRole("listitem").count()).toBeLessThan(60);
  await dialog.getByRole("checkbox", { name: "All operations" }).check();
  await expect(dialog.getByText("1,200 are chosen, and an import takes at most 500.")).toBeVisible();
  await expect(dialog.getByRole("button", { name: /^Create 1,200 tools/ })).toBeDisabled();
  await dialog.getByRole("checkbox", { name: "All operations" }).uncheck();
  await dialog.getByRole("searchbox", { name: "Search operations" }).fill("operation 1199");
  await dialog.getByRole("checkbox", { name: "Import operation1199" }).check();
  await expectAccessible(page, "a large document");
  await expectToFit(page, "a large document");
  await dialog.getByRole("button", { name: "Create 1 tool" }).click();
  await expect(dialog).toContainText("1 created");

  await test.step("other groups are imported next, and the tools of the first part stay", async () => {
    await dialog.getByRole("button", { name: "Import others (1,199)" }).click();
    await expect(dialog).toContainText("1,199 new · 1 unchanged");
    await expect(dialog).not.toContainText("no longer in the document");
    for (const group of ["Group 0", "Group 1", "Group 2", "Group 3", "Group 4", "Group 5"]) {
      await dialog.getByRole("checkbox", { name: `All of ${group}`, exact: true }).check();
    }
    await expect(dialog.getByRole("button", { name: "Create 600 tools" })).toBeDisabled();
    await dialog.getByRole("checkbox", { name: "All of Group 5", exact: true }).uncheck();
    await dialog.getByRole("button", { name: "Create 500 tools" }).click();
    await expect(dialog).toContainText("500 created");
    expect((await server.get("/v1/tools?name=operation1199")).body.data).toHaveLength(1);
  });
});
