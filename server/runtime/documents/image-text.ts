import type { Attributes } from "./xml.ts";

/** File names that some programs store as the description of a picture. */
const fileName = /^\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)$/i;

/** Returns the alternative text of a picture as "[Image: …]"; empty if it has none. */
export function imageText(...sources: readonly (string | null)[]): string {
  const texts = new Set(sources.map((text) => (text ?? "").replace(/\s+/g, " ").trim()));
  const descriptions = [...texts].filter((text) => text !== "" && !fileName.test(text));
  return descriptions.length === 0 ? "" : `[Image: ${descriptions.join(": ")}]`;
}

/** Returns the alternative text of a drawing by its Office attributes. */
export const drawnImageText = (attribute: Attributes): string => imageText(attribute("title"), attribute("descr"));
