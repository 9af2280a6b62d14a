import { bounds } from "./bounds.ts";

/** Collects what a program printed, up to the bound. */
export function printedText() {
  const pieces: Uint8Array[] = [];
  let room: number = bounds.printed;
  let cut = false;
  return {
    add(piece: Uint8Array): void {
      cut ||= piece.length > room;
      if (room > 0 && piece.length > 0) pieces.push(piece.subarray(0, room));
      room -= Math.min(room, piece.length);
    },
    isCut: (): boolean => cut,
    /** As a stream, so that a character that the bound went through is left out. */
    text: (): string => new TextDecoder().decode(Buffer.concat(pieces), { stream: true }),
  };
}
