import { createContext, useContext } from "react";
import type { Row } from "./fns/rows.ts";

/** The row whose detail is shown. */
export const RowContext = createContext<Row | null>(null);

/** That row, for what of its detail grows with the replay. */
export const useShownRow = (): Row | null => useContext(RowContext);
