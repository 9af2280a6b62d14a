import { copyText } from "../lib/use-copied.ts";
import { failed, toast } from "./toast.ts";

/** Why a text is not copied, and what is left to do. */
export const copyRefused = "The browser does not let this page copy.";

/** Copies an id or something else that is short, and says so; where the browser refuses, it says what to copy by hand. */
export async function copy(what: string, text: string): Promise<void> {
  if (await copyText(text)) toast(`${what} copied`, text);
  else failed(`${what} not copied`, `${copyRefused} Copy it from here: ${text}`);
}
