import { type RefObject, useLayoutEffect, useState } from "react";

const gap = 8;

/** How much room the labels of an axis take, measured as they stand there: those marked `data-axis` in an element. */
export function useLabelRoom(element: RefObject<HTMLElement | null>, labels: string): number {
  const [room, setRoom] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other labels take other room.
  useLayoutEffect(() => {
    const texts = element.current?.querySelectorAll<SVGTextElement>("[data-axis]") ?? [];
    if (texts.length > 0)
      setRoom(Math.ceil(Math.max(...Array.from(texts, (text) => text.getComputedTextLength()))) + gap);
  }, [element, labels]);
  return room;
}
