import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Runnel, startRunnel } from "./harness.ts";
import { type Documents, largeDocument, petsDocument, serveDocuments } from "./openapi-documents.ts";

let server: Runnel;
let documents: Documents;
beforeAll(async () => {
  documents = await serveDocuments();
  server = await startRunnel({ flags: ["--egress-allow", "127.0.0.1"] });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  documents?.stop();
});

const importTools = (...args: string[]) => server.command("tools", "import", ...args);

function write(name: string, content: string | Uint8Array): string {
  const path = join(server.folder, name);
  writeFileSync(path, content);
  return path;
}

test("the command imports a file, and a dry run exits with 3 only if something would change", async () => {
  const pets = write("pets.yaml", petsDocument(documents.url));
  const choice = ["--operations", "findPets", "GET /pets/{id}"];
  const plan = await importTools(pets, "--dry-run", ...choice);
  expect(plan).toMatchObject({ code: 3 });
  expect(plan.stdout).toContain("+ findPets: GET /pets");
  expect(plan.stdout).toContain("2 to create, 0 to update, 0 unchanged, 0 refused. Nothing was changed.");
  expect((await server.get("/v1/tools?name=findPets")).body.data).toEqual([]);

  const done = await importTools(pets, ...choice);
  expect(done).toMatchObject({ code: 0 });
  expect(done.stdout).toContain("2 created, 0 updated");
  expect(await importTools(pets, "--dry-run", ...choice)).toMatchObject({ code: 0 });

  writeFileSync(pets, petsDocument(documents.url, { summary: "Finds all pets." }));
  const again = await importTools(pets, "--dry-run", ...choice);
  expect(again).toMatchObject({ code: 3 });
  expect(again.stdout).toContain("~ findPets: GET /pets (description)");
  expect(again.stdout).toContain("= getPet: GET /pets/{id}");
});

test("the command imports what a dry run showed, and refuses a document that has changed since", async () => {
  documents.set("/bound.yaml", petsDocument(documents.url));
  const order = [`${documents.url}/bound.yaml`, "--tags", "photos", "--prefix", "bound_"];
  const plan = await importTools(...order, "--dry-run");
  const [, hash] = /--sha256 ([0-9a-f]{64})/.exec(plan.stdout) ?? [];
  if (hash === undefined) throw new Error(`No hash: ${plan.stdout}`);
  documents.set("/bound.yaml", petsDocument(documents.url, { summary: "Deletes all pets." }));
  const refused = await importTools(...order, "--sha256", hash);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain("The document has changed since");
  expect((await server.get("/v1/tools?name=bound_addPhoto")).body.data).toEqual([]);
  documents.set("/bound.yaml", petsDocument(documents.url));
  const done = await importTools(...order, "--sha256", hash);
  expect(done.stdout).toContain("1 created, 0 updated");
});

test("the command says how an API of more than 500 operations is imported in parts, and imports a part by its tags", async () => {
  const large = write("large.json", largeDocument());
  const plan = await importTools(large, "--dry-run");
  expect(plan.stdout).toContain("1200 to create");
  expect(plan.stdout).toContain(
    "An import takes at most 500 of them: import them in parts, by --tags or --operations.",
  );
  const whole = await importTools(large);
  expect(whole).toMatchObject({ code: 1 });
  expect(whole.stderr).toContain("at most 500 operations that change something, and these are 1200");
  expect(whole.stderr).toContain('"Group 0" (100)');
  const part = await importTools(large, "--tags", "Group 3", "Group 4");
  expect(part.stdout).toContain("200 created, 0 updated");
  const next = await importTools(large, "--tags", "Group 5", "--dry-run");
  expect(next.stdout).toContain("100 to create");
  expect(next.stdout).not.toContain("no longer in the document");
});

test("the command imports from an address, sends a secret, and says why an operation cannot be a tool", async () => {
  await server.fetch("/v1/secrets/PETS_TOKEN", { method: "PUT", body: JSON.stringify({ value: "pets-token-1" }) });
  const { code, stdout } = await importTools(
    `${documents.url}/pets.yaml`,
    "--auth",
    "token=PETS_TOKEN",
    "--prefix",
    "p_",
    "--json",
  );
  const answer = JSON.parse(stdout);
  expect({ code, created: answer.counts.created, refused: answer.counts.refused }).toEqual({
    code: 0,
    created: 3,
    refused: 1,
  });
  const id = answer.operations.find((each: { operation: string }) => each.operation === "GET /pets").tool_id;
  await server.post(`/v1/tools/${id}/test`, { arguments: {} });
  expect(documents.authorizations).toContain("Bearer pets-token-1");
});

test("bad documents and choices end with an error that names the fault, and create nothing", async () => {
  const before = (await server.get("/v1/tools")).body.data.length;
  const pets = write("good.yaml", petsDocument(documents.url));
  const cases: [string[], number, RegExp][] = [
    [[join(server.folder, "missing.yaml")], 2, /missing\.yaml cannot be read/],
    [[server.folder], 2, /cannot be read/],
    [[write("binary.json", new Uint8Array([0x89, 0xff, 0xfe]))], 2, /is not a text in UTF-8/],
    [[pets, "--auth", "token"], 2, /--auth takes a scheme and a secret/],
    [[write("page.html", "<!doctype html>")], 1, /HTML or XML page/],
    [[write("list.json", "[1]")], 1, /not an object/],
    [[write("broken.yaml", "openapi: [")], 1, /not valid YAML/],
    [[`${documents.url}/missing`], 1, /404/],
    [[pets, "--operations", "noSuch"], 1, /no such operation/],
    [[pets, "--auth", "token=NO_SUCH"], 1, /no secret NO_SUCH/],
  ];
  for (const [args, code, reason] of cases) {
    const result = await importTools(...args);
    expect({ args, code: result.code }).toEqual({ args, code });
    expect(result.stderr).toMatch(reason);
    expect(result.stderr).not.toMatch(/\n\s+at /);
  }
  expect((await server.get("/v1/tools")).body.data.length).toBe(before);
});
