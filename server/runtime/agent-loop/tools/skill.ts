import type { SkillTool } from "../../../domain/agent-snapshot.ts";
import { frontMatterIn, type SkillOperation, skillFile, withLineFeeds } from "../../../domain/skills.ts";
import type { Asks } from "../messages.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { readSkillFile } from "./read-skill-file.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

/** Most bytes and lines that one call brings. */
const [mostBytes, mostLines] = [64 * 1024, 2000];

interface Arguments {
  name: string;
  path?: string;
  first_line?: number;
}
type Pinned = SkillTool["skill"]["skills"][number];

/** Reads a skill of the agent, in the version that the run has pinned. */
export const run: ToolRunner<SkillTool> = async ({ arguments: args }, { skill }, context) => {
  const { name, path = "", first_line = 1 } = args as unknown as Arguments;
  const pinned = skill.skills.find((each) => each.name === name);
  if (!pinned) return toolError("skill_not_found", `The agent has no skill ${JSON.stringify(name)}.`, 0);
  const content = await context.ask("skill_files", { skill_id: pinned.skill_id, version: pinned.version });
  if (!content) return deleted(name);
  return operations[skill.operation]({ pinned, files: content.files, path, first_line }, context);
};

interface Order {
  pinned: Pinned;
  files: NonNullable<Asks["skill_files"]["answer"]>["files"];
  path: string;
  first_line: number;
}

async function load(order: Order, context: ToolContext): Promise<ToolResult> {
  const text = await textOfFile(order, skillFile, context);
  if (typeof text !== "string") return text;
  const others = order.files
    .filter(({ path }) => path !== skillFile)
    .map(({ path, bytes }) => `- ${path} (${bytes} bytes)`);
  const list = others.length > 0 ? ["# Files", others.join("\n")] : [];
  return done([linesOf(text, headLines(text) + 1, skillFile), ...list].join("\n\n"));
}

async function read(order: Order, context: ToolContext): Promise<ToolResult> {
  const path = relativePath(order.path, order.pinned.name);
  const text = await textOfFile(order, path, context);
  return typeof text === "string" ? done(linesOf(text, order.first_line, path)) : text;
}

const operations: Record<SkillOperation, (order: Order, context: ToolContext) => Promise<ToolResult>> = {
  load_skill: load,
  read_skill_file: read,
};

/** Drops what models write before a path: the current folder, or the folder where code finds the skill. */
const relativePath = (path: string, name: string): string =>
  path.replace(/^\.\//, "").replace(new RegExp(`^/skills/${name}/`), "");

/** Reads a file of a pinned skill. Returns the error for the model if it is no text, or the skill was deleted. */
async function textOfFile({ pinned, files }: Order, path: string, { ask }: ToolContext): Promise<string | ToolResult> {
  const file = files.find((each) => each.path === path);
  if (!file) return noSuchFile(path, files);
  const { skill_id, version, name } = pinned;
  const bytes = await readSkillFile({ skill_id, version, ...file }, ask);
  if (bytes === null) return deleted(name);
  return (
    textOf(bytes) ?? toolError("not_text", `${path} is not a text: it has ${bytes.length} bytes of other data.`, 0)
  );
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return withLineFeeds(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** Number of lines of the front matter, which the model knows already. */
const headLines = (text: string): number => frontMatterIn(text)?.lines ?? 0;

/** Returns the lines from this one on, cut to what one call brings, with a note that says how to read on. */
function linesOf(text: string, first: number, path: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  if (first > lines.length) return `[${path} has only ${lines.length} lines.]`;
  let room = mostBytes;
  let end = first - 1;
  while (end < lines.length && end - first + 1 < mostLines) {
    const size = Buffer.byteLength(lines[end] ?? "") + 1;
    if (size > room && end > first - 1) break;
    room -= size;
    end++;
    if (room <= 0) break;
  }
  const shown = lines.slice(first - 1, end).join("\n");
  const cut = Buffer.byteLength(shown) > mostBytes;
  const part = cut
    ? `${new TextDecoder().decode(Buffer.from(shown).subarray(0, mostBytes))}\n[The rest of this line is left out.]`
    : shown;
  if (end === lines.length) return part.trim();
  return `${part}\n\n[Cut after line ${end} of ${lines.length}. Read on in ${path} with first_line ${end + 1}.]`;
}

const done = (output: string): ToolResult => ({ output, error: null, attempts: 1 });

const deleted = (name: string): ToolResult => toolError("skill_not_found", `The skill ${name} was deleted.`, 0);

function noSuchFile(path: string, files: readonly { path: string }[]): ToolResult {
  const names = files.slice(0, 50).map((file) => file.path);
  return toolError("file_not_found", `The skill has no file ${JSON.stringify(path)}. It has ${names.join(", ")}.`, 0);
}
