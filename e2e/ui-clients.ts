import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { inProject } from "../scripts/root.ts";

/** The clients of user interfaces that are tried, each in the version that its page names; null where they are not to be had. */
export const uiModules = () =>
  npmWith("ui-3", [
    "ai@7.0.173",
    "@ai-sdk/react@4.0.177",
    "react@19.3.1",
    "react-dom@19.3.1",
    "@ag-ui/client@1.0.0",
    "@tanstack/ai-client@0.33.2",
    // CopilotKit 1.74 has this one.
    "ag-ui-client-0@npm:@ag-ui/client@0.0.59",
  ]);

/** The program of a page of the documentation in this language. */
export function shownIn(page: string, language: string): string {
  const markdown = readFileSync(inProject("server/docs/connect", `${page}.md`), "utf8");
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(markdown)![1]!;
}

/** Writes files into a folder that has these modules. */
export function writePrograms(folder: string, modules: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(modules, join(folder, "node_modules"));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
}

/** Makes one script for pages of a program. Throws where it cannot be made. */
export function bundled(folder: string, entry: string): string {
  const out = join(folder, "out"); // A folder: styles that are imported are a file of their own.
  const command = [process.execPath, "build", entry, "--outdir", out, "--target=browser", "--production"];
  const { success, stderr } = Bun.spawnSync(command, { cwd: folder });
  if (!success) throw new Error(stderr.toString());
  return readFileSync(join(out, entry.replace(/\.\w+$/, ".js")), "utf8");
}
