import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { build } from "../../server/lib/build-info.ts";
import { inProject } from "../root.ts";
import type { OpenApi } from "./openapi.ts";
import { pythonOf, toSync } from "./python.ts";

/**
 * Returns the Python client as a wheel for `pip install`. The same sources give the same bytes, in any place and at any
 * time. https://packaging.python.org/en/latest/specifications/binary-distribution-format/
 */
export function wheelOf(document: OpenApi): Uint8Array<ArrayBuffer> {
  const from = inProject("server/sdks/python");
  const written = [...new Bun.Glob("runnel_sdk/*.py").scanSync({ cwd: from })]
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path): [string, string] => [path, readFileSync(join(from, path), "utf8")]);
  const generated = Object.entries(pythonOf(document)).map(([name, text]): [string, string] => [
    `runnel_sdk/${name}`,
    text,
  ]);
  const files = new Map([...written, ...generated]);
  files.set("runnel_sdk/_client.py", toSync(files.get("runnel_sdk/_async_client.py")!));
  files.set("runnel_sdk/py.typed", "");
  const info = `runnel_sdk-${build.version}.dist-info`;
  files.set(`${info}/METADATA`, `${metadata.join("\n")}\n\n${readFileSync(join(from, "README.md"), "utf8")}`);
  files.set(`${info}/licenses/LICENSE`, readFileSync(inProject("server/LICENSE"), "utf8"));
  files.set(`${info}/WHEEL`, "Wheel-Version: 1.0\nGenerator: runnel\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
  const record = [...files].map(([path, text]) => {
    const bytes = Buffer.from(text);
    return `${path},sha256=${new Bun.CryptoHasher("sha256").update(bytes).digest("base64url")},${bytes.length}`;
  });
  files.set(`${info}/RECORD`, `${record.join("\n")}\n${info}/RECORD,,\n`);
  const entries = [...files].map(([path, text]): [string, Uint8Array] => [path, Buffer.from(text)]);
  return zipSync(Object.fromEntries(entries), { mtime: new Date(2000, 0, 1) }); // A zip's times are local ones.
}

const metadata = [
  "Metadata-Version: 2.4",
  "Name: runnel-sdk",
  `Version: ${build.version}`,
  "Summary: The client of runnel, a self-hosted agent runtime.",
  "License-Expression: Apache-2.0",
  "License-File: LICENSE",
  "Requires-Python: >=3.10",
  "Requires-Dist: httpx<1,>=0.23.3",
  "Classifier: Typing :: Typed",
  "Description-Content-Type: text/markdown",
];
