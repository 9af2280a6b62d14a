import { type MediaPart, placedParts, type RunInput } from "../../../../server/domain/run-input.ts";
import type { ShownFile, ShownLists } from "./shown-media.tsx";

/** Returns the images, recordings and documents of an input. */
export function shownInput(input: RunInput): ShownLists {
  const parts = placedParts(input).map(({ part }) => part);
  const ofType = (type: MediaPart["type"]): ShownFile[] =>
    parts.flatMap((part) =>
      part.type === type && part.file_id ? [{ file_id: part.file_id, filename: part.filename }] : [],
    );
  return { images: ofType("image"), audio: ofType("audio"), files: ofType("file") };
}
