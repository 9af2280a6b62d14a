import { createContext } from "react";

/** Whether the form around is read-only. Editors are not form fields, so a disabled fieldset does not reach them. */
export const Closed = createContext(false);
