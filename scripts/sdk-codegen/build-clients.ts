import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../server/lib/build-info.ts";
import { gzippedTar } from "../gzipped-tar.ts";
import { inProject } from "../root.ts";
import type { OpenApi } from "./openapi.ts";
import { typescriptOf } from "./typescript.ts";
import { wheelOf } from "./wheel.ts";

const license = "Apache-2.0";
const description = "The client of runnel, a self-hosted agent runtime.";

/**
 * Builds the clients into `folder`: `runnel-sdk-<version>.tgz` for npm, `runnel-sdk-<version>.js` as one module for
 * pages, and a wheel for pip. Their version is the API's. The same sources give the same bytes.
 */
export async function buildClients(document: OpenApi, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { archive, module } = await npmPackage(document);
  await Bun.write(join(folder, `runnel-sdk-${build.version}.tgz`), archive);
  await Bun.write(join(folder, `runnel-sdk-${build.version}.js`), module);
  await Bun.write(join(folder, `runnel_sdk-${build.version}-py3-none-any.whl`), wheelOf(document));
}

/** Builds JavaScript with its types for `npm install`, and all of it as one module for pages. */
async function npmPackage(document: OpenApi): Promise<{ archive: Uint8Array; module: string }> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-client-"));
  try {
    cpSync(inProject("server/sdks/typescript"), join(folder, "src"), {
      recursive: true,
      filter: (path) => !path.endsWith(".test.ts"),
    });
    writeFileSync(join(folder, "src/index.ts"), typescriptOf(document));
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(compiler));
    const compiled = Bun.spawnSync([process.execPath, inProject("node_modules/.bin/tsc"), "-p", folder], {
      cwd: folder,
    });
    if (compiled.exitCode !== 0) throw new Error(`The TypeScript client does not compile:\n${compiled.stdout}`);
    const files = ["package.json", ...[...new Bun.Glob("dist/**/*").scanSync({ cwd: folder })].sort()];
    const entries = files.map((file): [string, Uint8Array] => [`package/${file}`, readFileSync(join(folder, file))]);
    entries.push(["package/README.md", readFileSync(inProject("server/sdks/typescript/README.md"))]);
    entries.push(["package/LICENSE", readFileSync(inProject("server/LICENSE"))]);
    const bundled = await Bun.build({
      entrypoints: [join(folder, "dist/index.js")],
      target: "browser",
      format: "esm",
      minify: true,
    });
    return { archive: gzippedTar(entries), module: await bundled.outputs[0]!.text() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const manifest = {
  name: "runnel-sdk",
  version: build.version,
  description,
  license,
  type: "module",
  sideEffects: false,
  exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
  types: "./dist/index.d.ts",
  engines: { node: ">=20.3" }, // AbortSignal.any requires this version.
  files: ["dist"],
};

const compiler = {
  compilerOptions: {
    target: "es2022",
    module: "nodenext",
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: "src",
    outDir: "dist",
  },
  include: ["src"],
};
