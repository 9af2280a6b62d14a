import { expect, test } from "bun:test";
import { tools } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { pinTools } from "./snapshots.ts";

const code = (change: object = {}) => ({ name: "run", type: "code", ...change });
const source = "(args) => args.a";

async function refusal(client: Client, body: object) {
  const { status, body: answer } = await client.post("/v1/tools", body);
  return [status, answer.error?.code, answer.error?.param];
}

test("without a source the model writes the code, and gives no other argument", async () => {
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.post("/v1/tools", code());
  expect(status).toBe(201);
  expect(body).toMatchObject({
    type: "code",
    language: "javascript",
    source: null,
    timeout_ms: 5000,
    memory_mb: 64,
    files: [],
    parameters: { properties: { code: { type: "string" } }, required: ["code"], additionalProperties: false },
  });
  for (const field of ["headers", "idempotent", "signing_secret"]) expect(body).not.toHaveProperty(field);
});

test("with a source the parameters are its own, and are removed with it", async () => {
  await using server = testApp();
  const client = await server.client();
  const parameters = { type: "object", properties: { a: { type: "number" } } };
  const { body: tool } = await client.post("/v1/tools", code({ source, parameters }));
  expect(tool).toMatchObject({ source, parameters });
  const path = `/v1/tools/${tool.id}`;
  expect((await client.patch(path, { source: null })).body.parameters.required).toEqual(["code"]);
  expect((await client.patch(path, { parameters })).body.error.param).toBe("parameters");
  expect((await client.patch(path, { source })).body.parameters).toEqual({ type: "object", properties: {} });
  expect((await client.patch(path, { parameters })).body.parameters).toEqual(parameters);
});

test("another language requires another source, and replaces limits that do not fit", async () => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", code({ source, timeout_ms: 200 }));
  const path = `/v1/tools/${tool.id}`;
  expect((await client.patch(path, { language: "python" })).body.error.param).toBe("source");
  const python = { language: "python", source: "def main(args): return 1" };
  expect((await client.patch(path, python)).body).toMatchObject({ ...python, timeout_ms: 5000, memory_mb: 256 });
  expect((await client.patch(path, { timeout_ms: 60_000 })).body.timeout_ms).toBe(60_000);
  expect((await client.patch(path, { memory_mb: 64 })).body.error.param).toBe("memory_mb");
  const back = await client.patch(path, { language: "javascript", source });
  expect(back.body).toMatchObject({ timeout_ms: 5000, memory_mb: 256 });
});

test.each<[string, object, string]>([
  ["no words in its source", { source: " \n" }, "source"],
  ["a source past 256 KB in bytes", { source: `"${"é".repeat(131_073)}"` }, "source"],
  ["parameters and no source", { parameters: { type: "object" } }, "parameters"],
  ["an unknown language", { language: "ruby" }, "language"],
  ["99 ms", { timeout_ms: 99 }, "timeout_ms"],
  ["30,001 ms of JavaScript", { timeout_ms: 30_001 }, "timeout_ms"],
  ["257 MB of JavaScript", { memory_mb: 257 }, "memory_mb"],
  ["999 ms of Python", { language: "python", timeout_ms: 999 }, "timeout_ms"],
  ["127 MB of Python", { language: "python", memory_mb: 127 }, "memory_mb"],
  ["1025 MB of Python", { language: "python", memory_mb: 1025 }, "memory_mb"],
  ["a file that there is not", { files: ["file_00000000000000000000000000"] }, "files[0]"],
  ["21 files", { files: Array.from({ length: 21 }, (_, i) => `file_${String(i).padStart(26, "0")}`) }, "files"],
])("a code tool with %s is refused", async (_, change, param) => {
  await using server = testApp({ sandbox: "strict" });
  expect(await refusal(await server.client(), code(change))).toEqual([400, "validation_failed", param]);
});

test("a program gets files of its own project and environment, each under a unique name", async () => {
  await using server = testApp();
  const client = await server.client();
  const fileOf = async (of: Client, filename: string): Promise<string> =>
    (await of.post("/v1/files", { filename, text: "a,b", purpose: "attachment" })).body.id;
  const files = [await fileOf(client, "a.csv"), await fileOf(client, "b.csv")];
  const { body: tool } = await client.post("/v1/tools", code({ files }));
  expect(tool.files).toEqual(files);
  const path = `/v1/tools/${tool.id}`;
  const elsewhere = await fileOf(await server.client({ project: "other" }), "c.csv");
  const live = await fileOf(await server.client({ environment: "live" }), "c.csv");
  for (const refused of [elsewhere, live, await fileOf(client, "a.csv")]) {
    const { status, body } = await client.patch(path, { files: [...files, refused] });
    expect([status, body.error.param]).toEqual([400, "files[2]"]);
  }
  expect((await client.patch(path, { files: files.slice(1) })).body.files).toEqual(files.slice(1));
});

test("a model that writes Python learns which packages exist, after the tool's own description", async () => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  const told = async (more: object) => {
    const { body } = await client.post("/v1/tools", { name: `t_${crypto.randomUUID()}`, type: "code", ...more });
    const row = createScopedTable(server.db, tools).find(body, body.id);
    return [body.description, pinTools([row], null).tools[0]!.description];
  };
  const [own, whole] = await told({ language: "python", description: "Computes." });
  expect(own).toBe("Computes.");
  expect(whole).toMatch(
    /^Computes\.\n\nPython .*(no other package|numpy, pandas, .*matplotlib).*No network.*\/input.*\/workspace.*\/mnt\/data.*variables stay/,
  );
  expect((await told({ language: "python" }))[1]).toStartWith("Python ");
  for (const more of [{ language: "python", source: "def main(args): return 1" }, { workspace: "none" }])
    expect(await told({ ...more, description: "Own." })).toEqual(["Own.", "Own."]);
  const [, script] = await told({ description: "Own." });
  expect(script).toMatch(/^Own\.\n\nFiles: workspace\.names\(\).*variables do not\.$/);
  expect((await told({ language: "python", workspace: "none" }))[1]).toMatch(
    /\/output.*Nothing stays for the next call\.$/,
  );
});

test("a tool that this server cannot run is refused, and an existing one can still be described", async () => {
  await using server = testApp({ sandbox: "process" });
  const client = await server.client();
  const python = { language: "python" };
  expect(await refusal(client, code(python))).toEqual([400, "validation_failed", "language"]);
  const { body: tool } = await client.post("/v1/tools", code());
  server.db.sqlite.query("UPDATE tools SET definition = json_set(definition, '$.code.language', 'python')").run();
  const path = `/v1/tools/${tool.id}`;
  expect((await client.patch(path, { description: "Was strict once." })).status).toBe(200);
  expect((await client.patch(path, { source: "def main(args): return 1" })).body.error.param).toBe("language");
  await using off = testApp({ sandbox: "off" });
  expect(await refusal(await off.client(), code())).toEqual([400, "validation_failed", "type"]);
});
