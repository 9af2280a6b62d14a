import { copyText } from "../../hooks/use-copied.ts";
import { toast, toastFailure } from "../feedback/toast.ts";

/** Message if copying failed. */
export const copyRefused = "The browser does not let this page copy.";

/** Copies a short text and shows a toast; if the browser refuses, the toast contains the text. */
export async function copy(what: string, text: string): Promise<void> {
  if (await copyText(text)) toast(`${what} copied`, text);
  else toastFailure(`${what} not copied`, `${copyRefused} Copy it from here: ${text}`);
}
