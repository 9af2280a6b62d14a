import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../scripts/build.ts";
import { executable, type Runnel, runProgram, startRunnel } from "./harness.ts";

let folder: string;
let program: string;
let server: Runnel;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "runnel-lean-"));
  // A named target has no bytecode, whose generation takes longest.
  const target = `bun-${process.platform}-${process.arch}` as Bun.Build.CompileTarget;
  program = await compile({ outfile: join(folder, "runnel"), lean: true, target, runtime: process.execPath });
  server = await startRunnel({ program });
}, 180_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test("a lean build is smaller by the omitted parts, and reports itself as lean", async () => {
  // The omitted parts and the bytecode have 95 MB. The rest grows with the code, in both executables.
  expect(Bun.file(program).size).toBeLessThan(Bun.file(executable).size - 90e6);
  const { stdout } = await runProgram([program, "version", "--json"], folder, {});
  expect(JSON.parse(stdout)).toMatchObject({ lean: true });
  const doctor = await runProgram([program, "doctor", "--json", "--data-dir", server.dataDir], folder, {});
  expect(doctor.code).toBe(0);
  expect(JSON.parse(doctor.stdout).findings).toContainEqual({
    check: "embedding",
    result: "ok",
    detail: expect.stringContaining("lean build"),
  });
});

test("Python and stores without a model are refused with the reason, and JavaScript runs", async () => {
  const python = { type: "code", name: "calculate", description: "Calculates.", language: "python", source: "1 + 1" };
  const refused = await server.post("/v1/tools", python);
  expect(refused).toMatchObject({ status: 400, body: { error: { code: "validation_failed" } } });
  expect(JSON.stringify(refused.body)).toContain("without Python");
  expect((await server.post("/v1/tools", { ...python, language: "javascript" })).status).toBe(201);
  const store = await server.post("/v1/memory", { kind: "vector", name: "facts" });
  expect(store.body.error).toMatchObject({ code: "model_not_available" });
  expect(store.body.error.message).toContain("lean build");
});
