import type { getDocumentProxy } from "unpdf";
import type { Box, PlacedLine } from "./boxes.ts";
import { drawnTexts } from "./pdf-appearances.ts";
import type { PdfItem } from "./pdf-item.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** The fields of an annotation that we read; each kind has only some of them. */
interface Annotation {
  id?: string;
  subtype?: string;
  hasAppearance?: boolean;
  pushButton?: boolean;
  /** Lines that a free text draws. */
  textContent?: string[];
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

/** Returns form values, free text, comments, signatures and stamps of a page, which are not part of the page's own text. */
export async function annotationsOn(page: Page, boxOf: (item: PdfItem) => Box): Promise<PlacedLine[]> {
  // Damaged annotations must not make the page unreadable.
  const all: Annotation[] = await page.getAnnotations().catch(() => []);
  const shown = all.filter((one) => !one.hidden && ((one.annotationFlags ?? 0) & hiddenFlags) === 0);
  const drawn = shown.some(isPicture) ? await drawnTexts(page) : new Map<string, string>();
  return shown.flatMap((one) => {
    const own = one.subtype === "Widget" ? fieldText(one) : comment(one);
    const text = own.replace(/\s+/g, " ").trim() || (isPicture(one) && drawn.get(one.id ?? "")) || "";
    return text === "" ? [] : [{ text, box: one.rect ? boxOf(itemOf(one.rect)) : null }];
  });
}

/** True for a signature, a stamp or a button, of which the drawing alone says what a reader sees. */
const isPicture = ({ subtype, fieldType, pushButton, hasAppearance }: Annotation): boolean =>
  hasAppearance === true && (subtype === "Stamp" || fieldType === "Sig" || pushButton === true);

function comment({ subtype = "", contentsObj, titleObj, textContent = [] }: Annotation): string {
  const contents = contentsObj?.str.trim() || (subtype === "FreeText" ? textContent.join(" ").trim() : "");
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
