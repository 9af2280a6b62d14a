import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { skillFile } from "../server/domain/skills.ts";
import { selfTest } from "../server/runtime/sandbox/self-test.ts";
import { createSkillReader } from "../server/runtime/sandbox/skill-reader.ts";

// Reads skills that others have published in packages of npm, as an upload would. Their texts are fetched each time and
// are no part of the sources.

const published: [packed: string, folder: string][] = [
  ["playwright-core@1.65.1", "lib/tools/skills/playwright-cli"],
  ["playwright-core@1.65.1", "lib/tools/skills/playwright-trace"],
  ["@tanstack/router-core@1.171.39", "skills/router-core"],
  ["@tanstack/react-router@1.170.46", "skills/react-router"],
  ["@durable-streams/client@0.2.7", "skills/getting-started"],
  ["ai-labs-claude-skills@2.0.1", "dist/skills/csv-data-visualizer"],
  ["ai-labs-claude-skills@2.0.1", "dist/skills/data-analyst"],
  ["@wednesday-solutions-eng/ai-agent-skills@1.1.0", "skills/wednesday-dev"],
  ["ecc-universal@2.0.0", "skills/coding-standards"],
  ["ecc-universal@2.0.0", "docs/zh-CN/skills/token-budget-advisor"],
];

const folder = mkdtempSync(join(tmpdir(), "runnel-skills-"));
const reader = createSkillReader({ level: selfTest });
try {
  const outcomes = [];
  for (const [packed, path] of published) outcomes.push(await outcomeOf(packed, path));
  for (const { line } of outcomes) console.log(line);
  if (outcomes.some(({ isRead }) => !isRead)) process.exitCode = 1;
} finally {
  reader.stop();
  rmSync(folder, { recursive: true });
}

async function outcomeOf(packed: string, path: string): Promise<{ isRead: boolean; line: string }> {
  const root = join(folder, packed.replaceAll(/\W/g, "-"));
  run(["mkdir", "-p", root]);
  run(["npm", "pack", packed, "--silent", "--pack-destination", root]);
  const [archive = ""] = new Bun.Glob("*.tgz").scanSync({ cwd: root });
  run(["tar", "-xzf", join(root, archive), "-C", root]);
  const skill = join(root, "package", path);
  const bytes = run(["tar", "-czf", "-", "-C", dirname(skill), basename(skill)]);
  const outcome = await reader.read(bytes, new AbortController().signal, "");
  if (!("skill" in outcome)) return { isRead: false, line: `${packed} ${path}: ${outcome.error}` };
  const { head, files } = outcome.skill;
  const size = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const text = files.find((file) => file.path === skillFile)?.bytes;
  const isPlain = isYaml(new TextDecoder().decode(text).split(/^---\s*$/m)[1] ?? "");
  const note = isPlain ? "" : ", a description without the quotes that YAML asks for";
  return { isRead: true, line: `${packed} ${head.name}: ${files.length} files, ${size} bytes${note}` };
}

function isYaml(text: string): boolean {
  try {
    Bun.YAML.parse(text);
    return true;
  } catch {
    return false;
  }
}

function run(command: string[]): Uint8Array {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
  return stdout;
}
