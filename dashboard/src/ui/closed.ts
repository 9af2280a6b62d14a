import { createContext } from "react";

/** Whether the form around is closed to whoever looks at it. Editors are no form fields: they do not see its fieldset. */
export const Closed = createContext(false);
