import { AppError } from "../../domain/errors.ts";
import { type Cursor, parseCursor } from "../../runs/stream/stream.ts";

// Offsets of a run's stream, zero-padded because the protocol requires them to sort like positions.

const digits = 15;
const padded = (number: number): string => String(number).padStart(digits, "0");

/** Returns the offset after a cursor. */
export const offsetOf = ({ seq, offset }: Pick<Cursor, "seq" | "offset">): string => `${padded(seq)}_${padded(offset)}`;

/** Returns the offset after an event id, `12` or `12.340`. */
export const offsetAfter = (id: string): string => {
  const [seq = "0", offset = "0"] = id.split(".");
  return `${seq.padStart(digits, "0")}_${offset.padStart(digits, "0")}`;
};

/** Parses an offset; `-1` is the beginning. Throws `invalid_cursor` if this server never issued it. */
export function parseOffset(text: string): Cursor {
  if (text === "-1") return parseCursor(null, "offset");
  const match = /^(\d{15})_(\d{15})$/.exec(text);
  if (!match) throw new AppError("invalid_cursor", `"${text.slice(0, 40)}" is no offset.`, { param: "offset" });
  const [seq, offset] = [Number(match[1]), Number(match[2])];
  return parseCursor(offset === 0 ? String(seq) : `${seq}.${offset}`, "offset");
}

const interval_ms = 20_000;
const epoch_ms = Date.UTC(2024, 9, 9);

/** Returns the cursor for the next request, which keeps caches from repeating a response. It only grows. */
export function cursorAfter(cursorText: string | null, now: number): string {
  const current = Math.floor((now - epoch_ms) / interval_ms);
  const before = cursorText !== null && /^\d{1,15}$/.test(cursorText) ? Number(cursorText) : -1;
  return String(before < current ? current : before + 1 + Math.floor(Math.random() * 180));
}
