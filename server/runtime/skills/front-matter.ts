import { isAlias, isMap, type Node, parseDocument, visit } from "yaml";
import {
  frontMatterIn,
  headFault,
  quote,
  type SkillHead,
  skillFile,
  skillLimits,
  withLineFeeds,
} from "../../domain/skills.ts";
import { SkillError } from "./skill-error.ts";

/**
 * Reads the front matter of `SKILL.md`. Unknown fields are ignored, because other programs have fields of their own.
 * Throws for front matter that is missing or not valid.
 */
export function readHead(content: Uint8Array): SkillHead {
  const yaml = withPlainSigns(frontMatterOf(textOf(content)));
  const strict = fieldsOf(yaml);
  const fields = typeof strict?.description === "string" ? strict : (fieldsOf(withQuotes(yaml)) ?? strict);
  if (!fields) throw headError(`is not valid YAML: ${problemOf(yaml)}`);
  const head: SkillHead = {
    name: requiredText(fields, "name"),
    description: requiredText(fields, "description").replaceAll(/\s+/g, " "),
    license: textIn(fields, "license"),
    compatibility: textIn(fields, "compatibility"),
    allowed_tools: toolsIn(fields),
    metadata: pairsIn(fields),
  };
  const fault = headFault(head);
  if (fault) throw new SkillError(`${skillFile}: ${fault}`);
  return head;
}

const headError = (fault: string): SkillError => new SkillError(`The front matter of ${skillFile} ${fault}.`);

function textOf(content: Uint8Array): string {
  const isUtf16 = /^(fffe|feff)/.test(content.subarray(0, 2).toHex());
  if (isUtf16) throw new SkillError(`${skillFile} is in UTF-16. Save it as UTF-8.`);
  try {
    // Without the byte order mark that some editors write.
    return withLineFeeds(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    throw new SkillError(`${skillFile} is not a text in UTF-8.`);
  }
}

/** Returns the text between the first line of `---` and the next one. */
function frontMatterOf(text: string): string {
  const found = frontMatterIn(text);
  if (!found && /^(?:[ \t]*\n)*---[ \t]*\n/.test(text)) throw headError("has no end: a line of --- is missing");
  if (!found)
    throw new SkillError(`${skillFile} has no front matter: its first line has to be ---, then name and description.`);
  const { yaml } = found;
  if (Buffer.byteLength(yaml) > skillLimits.front_matter_bytes)
    throw headError(`is longer than ${skillLimits.front_matter_bytes} bytes`);
  return yaml;
}

type Fields = Record<string, unknown>;

/** Returns null if this is no YAML. */
function fieldsOf(yaml: string): Fields | null {
  const document = parse(yaml);
  if (document.errors.length > 0) return null;
  if (!isMap(document.contents)) throw headError("has no fields: name and description are required");
  refuseShared(document.contents);
  return document.toJS({ maxAliasCount: 0 }) as Fields;
}

// Numbers and dates stay texts as they are written: `1.10` is a version.
const parse = (yaml: string) => {
  try {
    return parseDocument(yaml, { schema: "failsafe", uniqueKeys: true, prettyErrors: false, logLevel: "silent" });
  } catch (error) {
    if (error instanceof RangeError) throw headError("nests too deep");
    throw error;
  }
};

/** Refuses what makes a small text a large value, and tags, which programs resolve differently. */
function refuseShared(contents: Node): void {
  visit(contents, {
    Node(_, node) {
      if (isAlias(node) || ("anchor" in node && node.anchor)) throw headError("has anchors or aliases (& and *)");
      if (node.tag && !node.tag.startsWith("tag:yaml.org,2002:")) throw headError(`has a tag ${quote(node.tag)}`);
    },
  });
}

function problemOf(yaml: string): string {
  const [error] = parse(yaml).errors;
  const line = yaml.slice(0, error?.pos[0] ?? 0).split("\n").length + 1;
  const message = error?.message ?? "";
  if (/call stack/.test(message)) return "it nests too deep";
  const problem = error?.code === "DUPLICATE_KEY" ? "a field is in it twice" : message;
  return `${problem.replace(/\.$/, "").slice(0, 200)} (line ${line})`;
}

/** First line of an entry whose text may be plain: a name, and what stands behind it. */
const textEntry = /^(?:(description):|(name|license|compatibility|allowed-tools):(?=[ \t]+\S))[ \t]*(.*)$/;

/**
 * Quotes texts that need it: many published skills have a colon in their description, which YAML takes for a field. A
 * text goes on in the lines below that are indented.
 */
const withQuotes = (yaml: string): string =>
  mapEntries(yaml, (entry, text) => {
    if (/^[&*!|>#]/.test(text)) return false;
    // A list, a map or a quoted text, unless it goes on after its end: `[Beta] Fills forms`.
    return !/^["'[{]/.test(text) || parse(entry).errors.length > 0;
  });

/** Quotes texts that begin with a sign of YAML for something else than texts, such as `**Use this**`. */
const withPlainSigns = (yaml: string): string => mapEntries(yaml, (_, text) => /^[&*!]/.test(text));

/** Quotes the texts of the entries that are chosen. */
function mapEntries(yaml: string, isChosen: (entry: string, text: string) => boolean): string {
  const entries = yaml.split(/\n(?=\S)/);
  return entries
    .map((entry) => {
      const [first = "", ...more] = entry.split("\n");
      const [, description, other, text = ""] = textEntry.exec(first) ?? [];
      const name = description ?? other;
      if (name === undefined || !isChosen(entry, text)) return entry;
      const whole = [text, ...more].map((line) => line.trim()).join(" ");
      return `${name}: ${JSON.stringify(whole.trim())}`;
    })
    .join("\n");
}

/** Returns the text of a field; null if it is absent or empty. */
function textIn(fields: Fields, name: string): string | null {
  const value = fields[name] ?? "";
  if (typeof value !== "string") throw headError(`has no text as its ${name}`);
  return value.trim() === "" ? null : value.trim();
}

function requiredText(fields: Fields, name: string): string {
  const text = textIn(fields, name);
  if (text === null) throw headError(`has no ${name}`);
  return text;
}

/** Reads `allowed-tools`: names with blanks between them, or a list. */
function toolsIn(fields: Fields): string[] {
  const value = fields["allowed-tools"];
  if (!Array.isArray(value)) return toolNames(textIn(fields, "allowed-tools") ?? "");
  if (!value.every((item) => typeof item === "string")) throw headError("has no texts in its list allowed-tools");
  return value.map((item) => item.trim());
}

/** Splits at blanks and commas outside of parentheses: `Bash(git add *), Read`. */
const toolNames = (text: string): string[] => text.match(/[^\s,(]+(\([^)]*\))?|\([^)]*\)/g) ?? [];

/** Reads `metadata`. A list or a map becomes JSON, so that every value is a text. */
function pairsIn({ metadata = "" }: Fields): Record<string, string> {
  if (metadata === null || metadata === "") return {};
  if (typeof metadata !== "object" || Array.isArray(metadata)) throw headError("has metadata that is no map of texts");
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}
