import { copyText } from "../../hooks/use-copied.ts";
import { toast, toastFailure } from "../feedback/toast.ts";

/** Message if copying failed. */
export const copyRefused = "The browser does not let this page copy.";

/** Copies a short text and shows a toast; if the browser refuses, the toast contains the text. */
export async function copy(label: string, text: string): Promise<void> {
  if (await copyText(text)) toast(`${label} copied`, text);
  else toastFailure(`${label} not copied`, `${copyRefused} Copy it from here: ${text}`);
}
