const tableTag = /<(\/?)(table|thead|tbody|tfoot|tr|td|th)(\s[^<>]*)?>/gi;
const declared = /\brole\s*=\s*["']?(?:presentation|none)\b/i;

/**
 * Makes the tables of a message that only place its parts into blocks; else its whole text would be a table of one row.
 * A table places parts if it says so, if it holds another table, or if its rows have one cell each.
 */
export function unwrapLayoutTables(html: string): string {
  const tables = openTables();
  for (const [, slash, name = "", attributes = ""] of html.matchAll(tableTag))
    tables.add(slash === "/", name, attributes);
  const isLayout = tables.close();
  let at = 0;
  return html.replace(tableTag, (tag, slash: string, name: string) => {
    if (!isLayout(at++)) return tag;
    return /^t[dh]$/i.test(name) ? `<${slash}div>` : " ";
  });
}

/** Finds the table of each tag, in numbers, because a message can have a million tags. */
function openTables() {
  const [tableOfTag, cells, open]: [number[], number[], number[]] = [[], [], []];
  const [saysLayout, isWide]: [boolean[], boolean[]] = [[], []];
  const start = (attributes: string) => {
    const outer = open.at(-1);
    if (outer !== undefined) saysLayout[outer] = true;
    open.push(saysLayout.length);
    saysLayout.push(declared.test(attributes));
    isWide.push(false);
    cells.push(0);
  };
  return {
    add(isEnd: boolean, name: string, attributes: string): void {
      const kind = name.toLowerCase();
      if (kind === "table" && !isEnd) start(attributes);
      const table = open.at(-1) ?? -1;
      tableOfTag.push(table);
      if (table === -1) return;
      if (kind === "tr") cells[table] = 0;
      const count = cells[table] ?? 0;
      if (!isEnd && (kind === "td" || kind === "th")) {
        cells[table] = count + 1;
        if (count > 0) isWide[table] = true;
      }
      if (kind === "table" && isEnd) open.pop();
    },
    /** Returns the function that says of a tag, by its index, that its table only places parts. */
    close(): (tag: number) => boolean {
      return (tag) => {
        const table = tableOfTag[tag] ?? -1;
        return table !== -1 && (saysLayout[table] === true || isWide[table] === false);
      };
    },
  };
}
