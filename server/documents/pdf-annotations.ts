import type { getDocumentProxy } from "unpdf";
import type { Box, PlacedLine } from "./boxes.ts";
import type { PdfItem } from "./pdf-lines.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** What we read of an annotation; of each kind only some is there. */
interface Annotation {
  subtype?: string;
  rect?: number[];
  hidden?: boolean;
  annotationFlags?: number;
  contentsObj?: { str: string };
  titleObj?: { str: string };
  fieldType?: string;
  fieldName?: string;
  fieldValue?: unknown;
  alternativeText?: string;
  password?: boolean;
  options?: { exportValue: string; displayValue: string }[];
  checkBox?: boolean;
  radioButton?: boolean;
  exportValue?: string;
  buttonValue?: string;
}

/** Hidden, and shown on no screen. */
const unseen = 2 | 32;
/** A link's words stand in the page; a popup shows those of the comment that it belongs to. */
const wordless = new Set(["Link", "Popup"]);

/** What is filled in on a page, written over it and said of it: none of it is in the text that the page draws. */
export async function annotationsOn(page: Page, boxOf: (item: PdfItem) => Box): Promise<PlacedLine[]> {
  // A damaged one costs the page nothing.
  const all: Annotation[] = await page.getAnnotations().catch(() => []);
  return all.flatMap((one) => {
    const isHidden = one.hidden === true || ((one.annotationFlags ?? 0) & unseen) !== 0;
    const text = isHidden ? "" : (one.subtype === "Widget" ? fieldText(one) : comment(one)).replace(/\s+/g, " ").trim();
    return text === "" ? [] : [{ text, box: one.rect ? boxOf(itemOf(one.rect)) : null }];
  });
}

function comment({ subtype = "", contentsObj, titleObj }: Annotation): string {
  const said = contentsObj?.str.trim() ?? "";
  if (said === "" || wordless.has(subtype)) return "";
  if (subtype === "FreeText") return said;
  const by = titleObj?.str.trim() ? ` by ${titleObj.str.trim()}` : "";
  return `> Comment${by}: ${said}`;
}

/** "Full name: Ann" of a field that is filled in. */
function fieldText(field: Annotation): string {
  const value = filledIn(field).trim();
  const name = field.alternativeText?.trim() || field.fieldName?.trim() || "";
  return value === "" ? "" : `${name === "" ? "" : `${name}: `}${value}`;
}

function filledIn({ fieldType, fieldValue, password, options = [], ...button }: Annotation): string {
  const values = [fieldValue].flat().filter((value) => typeof value === "string");
  if (password) return "";
  if (fieldType === "Tx") return values.join(" ");
  if (fieldType === "Ch")
    return values
      .map((value) => options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value)
      .join(", ");
  const own = button.checkBox ? button.exportValue : button.radioButton ? button.buttonValue : undefined;
  return own !== undefined && values.includes(own) ? own : "";
}

/** A rectangle as what is drawn in it, whose letters reach a fifth below their line. */
function itemOf([left = 0, low = 0, right = 0, high = 0]: readonly number[]): PdfItem {
  const height = high - low;
  return { str: "", hasEOL: true, width: right - left, height, transform: [1, 0, 0, 1, left, low + 0.2 * height] };
}
