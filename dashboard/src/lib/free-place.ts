/** A rectangle of the window, in px. */
export type Box = Pick<DOMRect, "left" | "top" | "right" | "bottom">;

const step_px = 8;

/**
 * Where within a frame a box of this size meets nothing that is taken: as low as can be, and there on the right, in the
 * middle or on the left. Null where there is no such place.
 */
export function freePlace(
  frame: Box,
  { width, height }: { width: number; height: number },
  taken: readonly Box[],
): { left: number; top: number } | null {
  const right = frame.right - width;
  const lefts = [right, (frame.left + right) / 2, frame.left];
  for (let top = frame.bottom - height; top >= frame.top; top -= step_px)
    for (const left of lefts) {
      const box = { left, top, right: left + width, bottom: top + height };
      if (!taken.some((each) => meet(each, box))) return { left, top };
    }
  return null;
}

/** Whether two boxes have a part in common. */
export const meet = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
