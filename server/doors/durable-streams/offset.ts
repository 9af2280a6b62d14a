import { AppError } from "../../core/errors.ts";
import { type Cursor, parseCursor } from "../../runs/stream.ts";

// A place in a run's stream as the protocol wants it: texts that sort like the places they name.

const digits = 15;
const padded = (number: number): string => String(number).padStart(digits, "0");

/** The offset behind what was read up to here. */
export const offsetOf = ({ seq, offset }: Pick<Cursor, "seq" | "offset">): string => `${padded(seq)}_${padded(offset)}`;

/** The same of the id of an event, `12` or `12.340`. */
export const offsetAfter = (id: string): string => {
  const [seq = "0", offset = "0"] = id.split(".");
  return `${seq.padStart(digits, "0")}_${offset.padStart(digits, "0")}`;
};

/** Reads an offset; `-1` is the beginning. Throws `invalid_cursor` for what this server never gave. */
export function parseOffset(text: string): Cursor {
  if (text === "-1") return parseCursor(null, "offset");
  const match = /^(\d{15})_(\d{15})$/.exec(text);
  if (!match) throw new AppError("invalid_cursor", `"${text.slice(0, 40)}" is no offset.`, { param: "offset" });
  const [seq, offset] = [Number(match[1]), Number(match[2])];
  return parseCursor(offset === 0 ? String(seq) : `${seq}.${offset}`, "offset");
}

const interval_ms = 20_000;
const epoch_ms = Date.UTC(2024, 9, 9);

/** Sent with the next request, so that no cache repeats an answer. It only grows. */
export function cursorAfter(given: string | null, now: number): string {
  const current = Math.floor((now - epoch_ms) / interval_ms);
  const before = given !== null && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(before < current ? current : before + 1 + Math.floor(Math.random() * 180));
}
