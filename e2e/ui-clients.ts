import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { inProject } from "../scripts/root.ts";

/** Packages of the tested user-interface clients, each in the version that its page names; null if unavailable. */
export const uiModules = () =>
  npmWith("ui-3", [
    "ai@7.0.173",
    "@ai-sdk/react@4.0.177",
    "react@19.3.1",
    "react-dom@19.3.1",
    "@ag-ui/client@1.0.0",
    "@tanstack/ai-client@0.33.2",
    // CopilotKit 1.74 uses this version.
    "ag-ui-client-0@npm:@ag-ui/client@0.0.59",
  ]);

/** Returns the program of a documentation page in this language. */
export function shownIn(page: string, language: string): string {
  const markdown = readFileSync(inProject("server/docs/connect", `${page}.md`), "utf8");
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(markdown)![1]!;
}

/** Writes files into a folder with these modules. */
export function writePrograms(folder: string, modules: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(modules, join(folder, "node_modules"));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
}

/** Bundles a program into one script for pages. Throws if it fails. */
export function bundled(folder: string, entry: string): string {
  const out = join(folder, "out"); // A folder, because imported styles become a separate file.
  const command = [process.execPath, "build", entry, "--outdir", out, "--target=browser", "--production"];
  const { success, stderr } = Bun.spawnSync(command, { cwd: folder });
  if (!success) throw new Error(stderr.toString());
  return readFileSync(join(out, entry.replace(/\.\w+$/, ".js")), "utf8");
}
