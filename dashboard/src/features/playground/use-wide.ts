import { useSyncExternalStore } from "react";

const query = "(min-width: 1251px)";

/** Whether the page is at its full width, where the code stands beside the conversation. */
export function useWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}
