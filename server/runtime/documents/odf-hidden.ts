import type { HiddenKind } from "./hidden-text.ts";
import type { OdfStyles } from "./odf-styles.ts";
import type { Attributes } from "./xml.ts";

/** Columns of a table, up to those that a workbook can have. */
const columnsMost = 16_384;

/** Finds the elements that hide their content: by a style of their own, or by an attribute. */
export function odfHiddenElements(styles: OdfStyles) {
  const tables: { hidden: boolean[]; column: number }[] = [];
  const hasStyle = (family: string, attribute: Attributes) =>
    styles.hidden.has(`${family} ${attribute("style-name") ?? ""}`);
  const isCollapsed = (attribute: Attributes) => /^(?:collapse|filter)$/.test(attribute("visibility") ?? "");
  const repeats = (attribute: Attributes) =>
    Math.min(columnsMost, Math.max(1, Number(attribute("number-columns-repeated")) || 1));
  const nextCell = (attribute: Attributes): HiddenKind | null => {
    const table = tables.at(-1);
    if (!table) return null;
    const from = table.column;
    table.column += repeats(attribute);
    const isHidden = from < columnsMost && table.hidden[from] === true && table.hidden[table.column - 1] === true;
    return isHidden ? "column" : null;
  };
  const kindOf: Record<string, (attribute: Attributes) => HiddenKind | null> = {
    p: (attribute) => (hasStyle("paragraph", attribute) ? "text" : null),
    h: (attribute) => (hasStyle("paragraph", attribute) ? "text" : null),
    span: (attribute) => (hasStyle("text", attribute) ? "text" : null),
    section: (attribute) => (attribute("display") === "none" || attribute("is-hidden") === "true" ? "text" : null),
    "hidden-text": (attribute) => (attribute("is-hidden") === "true" ? "text" : null),
    page: (attribute) => (hasStyle("drawing-page", attribute) ? "slide" : null),
    table(attribute) {
      tables.push({ hidden: [], column: 0 });
      return hasStyle("table", attribute) ? "sheet" : null;
    },
    "table-column"(attribute) {
      const table = tables.at(-1);
      const isHidden = isCollapsed(attribute);
      for (let left = repeats(attribute); table && left > 0 && table.hidden.length < columnsMost; left--)
        table.hidden.push(isHidden);
      return null;
    },
    "table-row"(attribute) {
      const table = tables.at(-1);
      if (table) table.column = 0;
      return isCollapsed(attribute) ? "row" : null;
    },
    "table-cell": nextCell,
    "covered-table-cell": nextCell,
  };
  return {
    /** Returns the kind of hidden content that an element begins, or null. */
    open: (name: string, attribute: Attributes): HiddenKind | null =>
      Object.hasOwn(kindOf, name) ? (kindOf[name]?.(attribute) ?? null) : null,
    close(name: string): void {
      if (name === "table") tables.pop();
    },
  };
}

/** Collects text that was deleted with tracked changes, by the id that its place in the text refers to. */
export function odfDeletions() {
  const texts = new Map<string, string>();
  let [id, deletions, details] = ["", 0, 0];
  return {
    open(name: string, attribute: Attributes): void {
      if (name === "changed-region") id = attribute("id") ?? "";
      if (name === "deletion") deletions++;
      if (name === "change-info") details++;
      if (name === "tab" || name === "line-break" || name === "s") this.text(" ");
    },
    close(name: string): void {
      if (name === "deletion") deletions--;
      if (name === "change-info") details--;
      if (name === "p" || name === "h") this.text(" ");
    },
    text(text: string): void {
      if (deletions > 0 && details === 0) texts.set(id, `${texts.get(id) ?? ""}${text}`);
    },
    take(change: string | null): string {
      const text = (texts.get(change ?? "") ?? "").replace(/\s+/g, " ").trim();
      texts.delete(change ?? "");
      return text;
    },
  };
}
