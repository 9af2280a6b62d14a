import { byteLength } from "./byte-length.ts";
import { newId } from "./ids.ts";

/** A message that comes along with a run. What a system or a tool says has places of its own. */
export const inputRoles = ["user", "assistant"] as const;
export interface InputMessage {
  role: (typeof inputRoles)[number];
  content: string;
}

/** What a run is asked, as clients send and read it: a text, or messages of which the user's is the last. */
export type RunInput = string | InputMessage[];

/** The same as the journal has it: the last text is what the run is about, and before it stands what was said earlier. */
export interface Asked {
  input: string;
  /** There where messages were sent, also where there was only one. */
  earlier?: (InputMessage & { id: string })[];
}

export function askedOf(given: RunInput): Asked {
  if (typeof given === "string") return { input: given };
  const earlier = given.slice(0, -1).map(({ role, content }) => ({ id: newId("message"), role, content }));
  return { input: lastText(given), earlier };
}

export const givenOf = ({ input, earlier }: Asked): RunInput =>
  earlier
    ? [...earlier.map(({ role, content }) => ({ role, content })), { role: "user" as const, content: input }]
    : input;

/** The same as messages, also where a text was sent. */
export function messagesOf(asked: Asked): InputMessage[] {
  const given = givenOf(asked);
  return typeof given === "string" ? [{ role: "user", content: given }] : given;
}

/** What the run is about: the text, or that of the last message. */
export const lastText = (given: RunInput): string =>
  typeof given === "string" ? given : (given.at(-1)?.content ?? "");

/** The same input with another text in the end. */
export const withLastText = (given: RunInput, content: string): RunInput =>
  typeof given === "string" ? content : [...given.slice(0, -1), { role: "user", content }];

/** All that was said, as one text for whoever reads it at once. */
export const wholeText = (given: RunInput): string =>
  typeof given === "string" || given.length === 1
    ? lastText(given)
    : given.map(({ role, content }) => `${role}: ${content}`).join("\n\n");

/** What is wrong with an input that its shape does not say, and where; null: nothing. */
export function inputFault(given: RunInput, most: number): { path: string; message: string } | null {
  const texts = typeof given === "string" ? [given] : given.map(({ content }) => content);
  // The schema counts characters, and a character may have four bytes.
  if (texts.reduce((sum, text) => sum + byteLength(text), 0) > most)
    return { path: "", message: `Expected at most ${most} bytes.` };
  if (typeof given === "string" || given.at(-1)?.role === "user") return null;
  return { path: `[${given.length - 1}].role`, message: "The last message is what the user says." };
}
