import { createContext } from "react";

/**
 * True if the surrounding form is read-only. Editors are not form fields, so a disabled fieldset does not affect them.
 */
export const ReadOnlyContext = createContext(false);
