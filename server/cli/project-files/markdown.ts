import { writeYaml } from "./write-yaml.ts";

interface MarkdownFile {
  /** The fields above the text, as YAML. */
  head: string;
  text: string;
}

const frontMatter = /^---[ \t]*\n([\s\S]*?\n)??---[ \t]*(?:\n|$)/;

/**
 * Splits a Markdown file into its front matter and its text; null if its front matter does not say what it describes.
 * One empty line may stand between them, and the last line end is the file's: neither is part of the text.
 */
export function readMarkdown(content: string): MarkdownFile | null {
  const plain = content.replaceAll("\r\n", "\n");
  const [whole = "", head = ""] = frontMatter.exec(plain) ?? [];
  if (!/^["']?object["']?[ \t]*:/m.test(head)) return null;
  return { head, text: plain.slice(whole.length).replace(/^\n/, "").replace(/\n$/, "") };
}

/** Writes a file that `readMarkdown` reads as these fields and this text. */
export const writeMarkdown = (fields: Record<string, unknown>, text: string): string =>
  `---\n${writeYaml(fields)}---\n\n${text}\n`;
