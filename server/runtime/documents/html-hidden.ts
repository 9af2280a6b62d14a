/** An opening tag: its place, and its text between the name and the bracket. */
interface Tag {
  start: number;
  end: number;
  name: string;
  attributes: string;
}

/** Elements whose content is no markup. */
const rawElements = new Set(["script", "style", "template", "textarea"]);
const voidElements = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
/** Most tags without an end, each of which costs a search to the end of the page. */
const brokenMost = 200;
/** Most names of elements without an end. */
const endlessMost = 50;
const attribute = /([^\s=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?/g;

/** Words without which no attribute hides or places an element. */
const effects = /hidden|display|position|visibility/i;

/** Returns the opening tags of a page in their order, without those in comments and scripts. */
function* tagsOf(html: string): Generator<Tag, void, number | undefined> {
  let broken = 0;
  const skipTo = (mark: string, from: number): number => {
    const at = html.indexOf(mark, from);
    if (at < 0) broken++;
    return at < 0 ? from : at + mark.length;
  };
  for (let at = html.indexOf("<"); at >= 0 && broken < brokenMost; at = html.indexOf("<", at)) {
    if (html.startsWith("<!--", at)) {
      at = skipTo("-->", at + 4);
      continue;
    }
    const name = /^[a-z][a-z0-9:-]{0,30}(?=[\s/>])/i.exec(html.slice(at + 1, at + 40))?.[0].toLowerCase() ?? "";
    const end = name === "" ? -1 : endOfTag(html, at + 1 + name.length);
    if (end < 0) {
      if (name !== "") broken++;
      at++;
    } else if (rawElements.has(name)) at = skipTo(`</${name}`, end);
    else at = (yield { start: at, end, name, attributes: html.slice(at + 1 + name.length, end - 1) }) ?? end;
  }
}

/** Returns the end of a tag, whose quoted values may hold brackets, or -1. */
function endOfTag(html: string, from: number): number {
  const mark = /["'<>]/g;
  mark.lastIndex = from;
  for (let found = mark.exec(html); found !== null; found = mark.exec(html)) {
    if (found[0] === ">") return mark.lastIndex;
    if (found[0] === "<") return -1;
    const closing = html.indexOf(found[0], mark.lastIndex);
    if (closing < 0) return -1;
    mark.lastIndex = closing + 1;
  }
  return -1;
}

/**
 * Cuts the elements that a page hides by the attribute `hidden` or by their own style. Returns the rest of the page, and
 * the text of each cut element. Style sheets and scripts, which may hide and show elements too, have no effect.
 */
export function cutHiddenElements(html: string): { html: string; texts: string[] } {
  const [kept, texts]: [string[], string[]] = [[], []];
  if (!effects.test(html)) return { html, texts };
  // Elements that never end are searched for once only.
  const endless = new Set<string>();
  let from = 0;
  const tags = tagsOf(html);
  for (let next = tags.next(); !next.done; ) {
    const { start, end, name, attributes } = next.value;
    const isKnown = voidElements.has(name) || endless.has(name) || endless.size >= endlessMost;
    const canHide = !isKnown && effects.test(attributes);
    const last = canHide && hides(attributes) ? endOf(html, name, end) : undefined;
    if (last === null) endless.add(name);
    if (typeof last !== "number") {
      next = tags.next(end);
      continue;
    }
    kept.push(html.slice(from, start));
    texts.push(html.slice(start, last).replace(/<[^<>]*>/g, " "));
    from = last;
    next = tags.next(last);
  }
  return { html: kept.length === 0 ? html : kept.join("") + html.slice(from), texts };
}

const hidingStyle = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

function hides(attributes: string): boolean {
  for (const [, key = "", double, single, bare] of attributes.matchAll(attribute)) {
    const value = double ?? single ?? bare ?? "";
    if (/^hidden$/i.test(key) && !/^until-found$/i.test(value)) return true;
    if (/^style$/i.test(key) && hidingStyle.test(value)) return true;
  }
  return false;
}

/**
 * Removes the attributes by which the converter to Markdown leaves elements out: of hidden ones, whose text is asked for
 * or is cut already, and of elements with a position of their own, which a page shows.
 */
export function dropStyles(html: string): string {
  const kept: string[] = [];
  let from = 0;
  if (!effects.test(html)) return html;
  for (const { start, end, name, attributes } of tagsOf(html)) {
    if (!effects.test(attributes)) continue;
    const others = attributes.replace(attribute, (text, key: string) => (/^(?:style|hidden)$/i.test(key) ? "" : text));
    kept.push(html.slice(from, start), `<${name}${others}>`);
    from = end;
  }
  return kept.length === 0 ? html : kept.join("") + html.slice(from);
}

/** Returns the end of an element that was opened before `from`, or null if it has none. */
function endOf(html: string, element: string, from: number): number | null {
  const tags = new RegExp(`<(/?)${element}(?=[\\s/>])`, "gi");
  tags.lastIndex = from;
  let depth = 1;
  for (let found = tags.exec(html); found !== null; found = tags.exec(html)) {
    if (found[1] === "") depth++;
    else if (--depth === 0) {
      const end = html.indexOf(">", tags.lastIndex);
      return end < 0 ? null : end + 1;
    }
  }
  return null;
}
