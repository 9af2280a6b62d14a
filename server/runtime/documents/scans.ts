import type { PlacedLine } from "./boxes.ts";

/** Paragraphs of a page in the order in which they are read. */
export type Paragraphs = PlacedLine[][];

/** The pages of a document that OCR has read, and those that it has not. */
export interface Scans {
  /** Paragraphs by page number, from 1. */
  read: ReadonlyMap<number, Paragraphs>;
  /** Pages for which there was no time. */
  left: readonly number[];
  /** Pages whose reading failed. */
  lost: readonly number[];
}

/** Encodes them for a child. */
export const encodeScans = ({ read, left, lost }: Scans): Uint8Array =>
  new TextEncoder().encode(JSON.stringify([[...read], left, lost]));

export function decodeScans(bytes: Uint8Array): Scans {
  const [read, left, lost] = JSON.parse(new TextDecoder().decode(bytes));
  return { read: new Map(read), left, lost };
}
