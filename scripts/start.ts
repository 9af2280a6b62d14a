import { replaceProcess } from "./process.ts";
import { inProject } from "./root.ts";
import { isFresh } from "./stamp.ts";

if (!isFresh()) {
  console.error("Building runnel …");
  // Imported late, because a start with nothing to build must not wait for the bundler.
  const { build } = await import("./build.ts");
  await build();
}
process.exitCode = await replaceProcess([inProject("dist/runnel"), "dev", ...process.argv.slice(2)]);
