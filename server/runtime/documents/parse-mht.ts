import { TooNested, unreadable } from "./document-error.ts";
import { bodyText } from "./mail-text.ts";
import { type MailPart, parseMail } from "./mail-tree.ts";
import type { Outline } from "./outline.ts";
import type { ParserOptions } from "./parse-options.ts";

const partsMost = 10_000;

/**
 * Parses a web page saved as one file (MHTML, RFC 2557): its page, then the pages of its frames. Images and styles are
 * not text.
 */
export async function parseMht(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<void> {
  const root = await parseMail(bytes, options.encoding);
  const leaves = leavesOf(root);
  const start = startOf(root, leaves);
  if (!start) throw unreadable("It is not a saved web page.");
  const pages = leaves.filter((part) => part !== start && typeOf(part) === "text/html");
  for (const page of [start, ...pages]) (await bodyText(page, options)).text.writeTo(outline);
}

const typeOf = (part: MailPart): string => part.contentType.parsed.value.replace("application/xhtml+xml", "text/html");

function leavesOf(root: MailPart): MailPart[] {
  const leaves: MailPart[] = [];
  const visit = (part: MailPart, depth: number) => {
    if (depth > 20 || leaves.length >= partsMost) throw new TooNested();
    if (part.childNodes.length === 0) leaves.push(part);
    for (const child of part.childNodes) visit(child, depth + 1);
  };
  visit(root, 0);
  return leaves;
}

/** Returns the part that the file names as its start, or else the first page, or else the first text. */
function startOf(root: MailPart, leaves: readonly MailPart[]): MailPart | undefined {
  const start = root.contentType.parsed.params.start?.trim();
  const named = leaves.find((part) => start && part.contentId?.trim() === start && typeOf(part) === "text/html");
  return (
    named ??
    leaves.find((part) => typeOf(part) === "text/html") ??
    leaves.find((part) => typeOf(part) === "text/plain" && part.headers.length > 0)
  );
}
