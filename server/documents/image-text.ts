import type { Attributes } from "./xml.ts";

/** Programs that put a picture's file name there, and nothing that anybody said of it. */
const fileName = /^\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)$/i;

/** What is said of a picture for those who do not see it: "[Image: …]"; empty where nothing is. */
export function imageText(...said: readonly (string | null)[]): string {
  const texts = new Set(said.map((text) => (text ?? "").replace(/\s+/g, " ").trim()));
  const told = [...texts].filter((text) => text !== "" && !fileName.test(text));
  return told.length === 0 ? "" : `[Image: ${told.join(": ")}]`;
}

/** The same by the properties that drawings have in the formats of Office. */
export const drawnImageText = (attribute: Attributes): string => imageText(attribute("title"), attribute("descr"));
