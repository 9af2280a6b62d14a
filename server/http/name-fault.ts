import type { Fault } from "../core/errors.ts";
import { fault } from "./errors.ts";

/** What is wrong with a name that people read, as a list of one, or none: it may hold anything that can be seen. */
export function nameFaults(name: string | undefined): Fault[] {
  if (name === undefined) return [];
  if (name.trim() === "") return [fault("name", "Expected more than spaces.")];
  if (name.length > 128) return [fault("name", "Expected at most 128 characters.")];
  // On a terminal they could hide the line of a key, or show another one in its place.
  return /\p{Cc}/u.test(name) ? [fault("name", "Control characters are not allowed.")] : [];
}
