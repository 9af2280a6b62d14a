import { AppError } from "../../domain/errors.ts";
import type { RecordedInput } from "../../domain/run-input.ts";
import { takenBy } from "../../runtime/models/input-kinds.ts";
import { parseModel } from "../../runtime/models/registry.ts";

/** Throws if the model is known not to take a kind of content that the input has. */
export function requireTaken(model: string, { earlier = [], ...last }: RecordedInput): void {
  const name = parseModel(model);
  if (!name) return;
  const { images, audio } = takenBy(name.provider, name.model);
  const messages = [...earlier, last];
  messages.forEach((message, index) => {
    if (message.images && !images) throw notTaken(model, "images", index);
    if (message.audio && !audio) throw notTaken(model, "recordings", index);
  });
}

function notTaken(model: string, noun: string, index: number): AppError {
  const param = `input[${index}].content`;
  return new AppError("unsupported_input", `${param}: The model ${model} takes no ${noun}.`, { param });
}
