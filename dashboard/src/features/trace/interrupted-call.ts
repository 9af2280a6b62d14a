import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { interruptedCode } from "../../../../server/domain/interruption.ts";

/** True if a message of the user ended the model call. */
export const isInterruptedCall = ({ status, error }: Pick<TraceStep, "status" | "error">): boolean =>
  status === "cancelled" && error?.code === interruptedCode;
