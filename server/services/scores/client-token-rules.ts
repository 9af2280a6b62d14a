import { AppError } from "../../domain/errors.ts";
import { invalid } from "../../http/errors.ts";
import type { Principal } from "../../http/principal.ts";
import type { PutScore } from "./schema.ts";

/** The only score that a chat user gives: 0 is bad, 1 is good. */
const feedback = "feedback";

/**
 * Throws for any score but feedback from a client token: another name could pass for a program's verdict, and another
 * scale would distort averages.
 */
export function requireFeedback({ token }: Principal, name: string, { value }: PutScore): void {
  if (!token) return;
  if (name !== feedback)
    throw new AppError("insufficient_scope", `A client token gives the score "${feedback}" and no other.`, {
      param: "name",
    });
  if (value < 0 || value > 1) throw invalid("value", "Feedback is from 0 to 1.");
}
