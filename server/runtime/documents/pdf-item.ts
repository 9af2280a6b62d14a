/** A text item that a page draws. */
export interface PdfItem {
  str: string;
  width: number;
  height: number;
  transform: number[];
  hasEOL: boolean;
  fontName?: string;
  /** Length of vertical text, from its place downwards, half of its width on either side. */
  down?: number;
}
