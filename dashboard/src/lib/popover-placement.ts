/** A rectangle in window pixels. */
export type Box = Pick<DOMRect, "left" | "top" | "right" | "bottom">;

const step_px = 8;

/**
 * Finds a free position for a box in a frame: as low as possible, there right, middle or left. Null if there is none.
 */
export function popoverPlacement(
  frame: Box,
  { width, height }: { width: number; height: number },
  obstacles: readonly Box[],
): { left: number; top: number } | null {
  const right = frame.right - width;
  const lefts = [right, (frame.left + right) / 2, frame.left];
  for (let top = frame.bottom - height; top >= frame.top; top -= step_px)
    for (const left of lefts) {
      const box = { left, top, right: left + width, bottom: top + height };
      if (!obstacles.some((each) => overlaps(each, box))) return { left, top };
    }
  return null;
}

/** True if two boxes overlap. */
export const overlaps = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
