import { createContext, useContext } from "react";

/** Where the replay stands, in milliseconds since the epoch; null: nothing is replayed. */
export const ReplayContext = createContext<number | null>(null);

/** Where the replay stands, for whatever grows with it. */
export const useReplay = (): number | null => useContext(ReplayContext);
