import type { getDocumentProxy } from "unpdf";
import type { Box, PlacedLine } from "./boxes.ts";
import type { PdfItem } from "./pdf-lines.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** The fields of an annotation that we read; each kind has only some of them. */
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

/** Flags of annotations that are hidden or not displayed. */
const hiddenFlags = 2 | 32;
/** Annotations without text of their own: a link's words are in the page, and a popup repeats its comment. */
const textlessTypes = new Set(["Link", "Popup"]);

/** Returns form values, free text and comments of a page, which are not part of the page's own text. */
export async function annotationsOn(page: Page, boxOf: (item: PdfItem) => Box): Promise<PlacedLine[]> {
  // Damaged annotations must not make the page unreadable.
  const all: Annotation[] = await page.getAnnotations().catch(() => []);
  return all.flatMap((one) => {
    const isHidden = one.hidden === true || ((one.annotationFlags ?? 0) & hiddenFlags) !== 0;
    const text = isHidden ? "" : (one.subtype === "Widget" ? fieldText(one) : comment(one)).replace(/\s+/g, " ").trim();
    return text === "" ? [] : [{ text, box: one.rect ? boxOf(itemOf(one.rect)) : null }];
  });
}

function comment({ subtype = "", contentsObj, titleObj }: Annotation): string {
  const contents = contentsObj?.str.trim() ?? "";
  if (contents === "" || textlessTypes.has(subtype)) return "";
  if (subtype === "FreeText") return contents;
  const by = titleObj?.str.trim() ? ` by ${titleObj.str.trim()}` : "";
  return `> Comment${by}: ${contents}`;
}

/** Returns "Full name: Ann" for a field that is filled in. */
function fieldText(field: Annotation): string {
  const value = fieldValueText(field).trim();
  const name = field.alternativeText?.trim() || field.fieldName?.trim() || "";
  return value === "" ? "" : `${name === "" ? "" : `${name}: `}${value}`;
}

function fieldValueText({ fieldType, fieldValue, password, options = [], ...button }: Annotation): string {
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

/** Converts a rectangle to an item whose descenders reach a fifth below the baseline. */
function itemOf([left = 0, low = 0, right = 0, high = 0]: readonly number[]): PdfItem {
  const height = high - low;
  return { str: "", hasEOL: true, width: right - left, height, transform: [1, 0, 0, 1, left, low + 0.2 * height] };
}
