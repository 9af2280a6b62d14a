/** Pattern of a variable's name. */
export const variableName = "^[A-Za-z][A-Za-z0-9_]{0,63}$";

/** Pattern of a snippet's name. */
export const snippetName = "^[A-Za-z][A-Za-z0-9_-]{0,63}$";

/**
 * Maximal number of tags that are replaced in a text, also of an imported trace, whose agent was checked elsewhere.
 */
export const tagsMax = 200;

/** A place in a template: `{{name}}`, or `{{> name}}` for a snippet. */
interface Tag {
  kind: "variable" | "snippet";
  name: string;
  /** Its place in the template, with what stands directly before it. */
  at: number;
}

/**
 * A row of braces with the backslashes before it, and the rest of the tag if its last two begin one: a tag stands on one
 * line. The look-behind keeps a long row of backslashes from being read again and again.
 */
const token = /(?<!\\)(\\*)(\{{2,})(?:([^{}\r\n]{0,200})\}\})?/g;

const snippetTag = /^>\s*(.*)$/;

function tagOf(content: string, at: number): Tag {
  const name = content.trim();
  const snippet = snippetTag.exec(name)?.[1];
  return snippet === undefined ? { kind: "variable", name, at } : { kind: "snippet", name: snippet, at };
}

/** True if the braces behind so many backslashes are text. */
const isEscaped = (slashes: string): boolean => slashes.length % 2 === 1;

/** Returns the tags of a template in their order. */
export function tagsIn(template: string): Tag[] {
  const tags: Tag[] = [];
  for (const { 1: slashes = "", 3: content, index } of template.matchAll(token))
    if (content !== undefined && !isEscaped(slashes)) tags.push(tagOf(content, index));
  return tags;
}

/**
 * Replaces the tags of a template in one pass, so that no value is read as a template. A tag without a value stays the
 * text that it is. A backslash before two braces makes them text, and two backslashes stand for one.
 */
export function renderTemplate(template: string, replacementOf: (tag: Tag) => string | undefined): string {
  let count = 0;
  return template.replace(token, (whole, slashes: string, braces: string, content: string | undefined, at: number) => {
    const kept = slashes.slice(0, Math.floor(slashes.length / 2));
    const value =
      content === undefined || isEscaped(slashes) || count++ >= tagsMax ? undefined : replacementOf(tagOf(content, at));
    return kept + (value === undefined ? whole.slice(slashes.length) : braces.slice(2) + value);
  });
}

/** Returns a template that renders to this text. */
export const escapeTemplate = (text: string): string =>
  text.replace(/(?<!\\)(\\*)(\{{2,})/g, (_, slashes: string, braces: string) => `${slashes}${slashes}\\${braces}`);
