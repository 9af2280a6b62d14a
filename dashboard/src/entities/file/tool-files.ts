import { isJsonObject } from "../../lib/json-text.ts";
import type { ShownFile, ShownLists } from "./shown-media.tsx";

/** Files that browsers show as pictures. An SVG may have scripts, so that it is downloaded. */
const picture = /\.(png|jpe?g|gif|webp)$/i;

/** Returns the files that a program left, from the output of its call: `{files: [{id, filename}]}`. */
export function toolFiles(output: unknown): ShownLists {
  const listed = isJsonObject(output) && Array.isArray(output.files) ? output.files : [];
  const files = listed.flatMap((file): ShownFile[] =>
    isJsonObject(file) && typeof file.id === "string" && typeof file.filename === "string"
      ? [{ file_id: file.id, filename: file.filename }]
      : [],
  );
  return {
    images: files.filter(({ filename = "" }) => picture.test(filename)),
    files: files.filter(({ filename = "" }) => !picture.test(filename)),
  };
}
