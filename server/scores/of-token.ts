import { AppError } from "../core/errors.ts";
import { invalid } from "../http/errors.ts";
import type { Principal } from "../http/principal.ts";
import type { PutScore } from "./schema.ts";

/** The one score that a person who chats gives: from 0, which is bad, to 1, which is good. */
const feedback = "feedback";

/**
 * Throws for a score that a browser may not give: another name could pass for the verdict of a program, and another scale
 * would spoil every average.
 */
export function requireFeedback({ token }: Principal, name: string, { value }: PutScore): void {
  if (!token) return;
  if (name !== feedback)
    throw new AppError("insufficient_scope", `A client token gives the score "${feedback}" and no other.`, {
      param: "name",
    });
  if (value < 0 || value > 1) throw invalid("value", "Feedback is from 0 to 1.");
}
