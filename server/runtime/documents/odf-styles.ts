import { ownValue } from "../../lib/collections.ts";
import type { NumberStyle } from "./list-numbers.ts";
import type { Attributes } from "./xml.ts";

interface ListLevel {
  /** Undefined: a bullet. */
  number?: NumberStyle;
  prefix?: string;
  suffix?: string;
  start?: number;
}

/** List styles and raised text styles of a document, by name. */
export interface OdfStyles {
  isWorkbook: boolean;
  lists: Map<string, ListLevel[]>;
  raised: Set<string>;
  /** Styles that hide their text, table or slide, each after its family: "text T1". */
  hidden: Set<string>;
  /** Name of the style that is being read. */
  current: string;
  family: string;
}

export const noStyles = (isWorkbook: boolean): OdfStyles => ({
  isWorkbook,
  lists: new Map(),
  raised: new Set(),
  hidden: new Set(),
  current: "",
  family: "",
});

const numbers: Record<string, NumberStyle> = {
  "1": "decimal",
  a: "lowerLetter",
  A: "upperLetter",
  i: "lowerRoman",
  I: "upperRoman",
};

/** For each element of properties: returns whether it hides or shows, or null if it does not say. */
const hidingProperties: Record<string, (attribute: Attributes) => boolean | null> = {
  "text-properties": (attribute) => isHiding(attribute("display"), "none"),
  "table-properties": (attribute) => isHiding(attribute("display"), "false"),
  "drawing-page-properties": (attribute) => isHiding(attribute("visibility"), "hidden"),
};
const isHiding = (value: string | null, hiding: string): boolean | null => (value === null ? null : value === hiding);

/** A style hides what its parent hides. */
function startStyle(styles: OdfStyles, attribute: Attributes): void {
  styles.family = attribute("family") ?? "";
  if (styles.hidden.has(`${styles.family} ${attribute("parent-style-name")}`))
    styles.hidden.add(`${styles.family} ${styles.current}`);
}

/** Records the properties of one style element. */
export function readOdfStyle(styles: OdfStyles, name: string, attribute: Attributes): void {
  if (name === "style" || name === "list-style") styles.current = attribute("name") ?? "";
  if (name === "default-style") styles.current = "";
  if (name === "style") startStyle(styles, attribute);
  const hides = ownValue(hidingProperties, name)?.(attribute) ?? null;
  const key = `${styles.family} ${styles.current}`;
  if (hides === true) styles.hidden.add(key);
  if (hides === false) styles.hidden.delete(key);
  if (name === "text-properties" && /^(?:super|[1-9]\d?%)/.test(attribute("text-position") ?? ""))
    styles.raised.add(styles.current);
  if (!name.startsWith("list-level-style-")) return;
  const levels = styles.lists.get(styles.current) ?? [];
  styles.lists.set(styles.current, levels);
  const level = Math.min(10, Math.max(1, Math.floor(Number(attribute("level"))) || 1)) - 1;
  const format = attribute("num-format") ?? "";
  const number = name.endsWith("number") ? ownValue(numbers, format) : undefined;
  levels[level] = {
    ...(number !== undefined && { number }),
    prefix: attribute("num-prefix")?.slice(0, 20) ?? "",
    suffix: attribute("num-suffix")?.slice(0, 20) ?? "",
    start: Number(attribute("start-value")) || 1,
  };
}
