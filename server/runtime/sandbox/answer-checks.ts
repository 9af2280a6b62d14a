import { type Box, boxesMost } from "../documents/boxes.ts";

// Checks of the answer of a child, which is untrusted.

export const isBox = (value: unknown): value is Box =>
  Array.isArray(value) &&
  value.length === 4 &&
  value.every((edge) => typeof edge === "number" && edge >= 0 && edge <= 1);

export const isBoxes = (value: unknown): value is Box[] =>
  Array.isArray(value) && value.length <= boxesMost && value.every(isBox);

/** True for an integer from 1. */
export const isCount = (value: unknown, most: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;

/** True if a database and JSON can hold the text: no lone surrogates and no NUL. */
export const isPlain = (text: string): boolean => text.isWellFormed() && !text.includes("\0");
