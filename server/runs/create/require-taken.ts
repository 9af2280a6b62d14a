import { AppError } from "../../domain/errors.ts";
import type { RecordedInput } from "../../domain/run-input.ts";
import { takenBy } from "../../runtime/models/input-kinds.ts";
import { parseModel } from "../../runtime/models/registry.ts";

/** Throws if the model is known not to take a kind of content that the input has. `fixed` is the parameter to blame. */
export function requireTaken(model: string, { earlier = [], ...last }: RecordedInput, fixed?: string): void {
  const name = parseModel(model);
  if (!name) return;
  const { images, audio } = takenBy(name.provider, name.model);
  const messages = [...earlier, last];
  messages.forEach((message, index) => {
    const param = fixed ?? `input[${index}].content`;
    if (message.images && !images) throw notTaken(model, "images", param);
    if (message.audio && !audio) throw notTaken(model, "recordings", param);
  });
}

function notTaken(model: string, noun: string, param: string): AppError {
  return new AppError("unsupported_input", `${param}: The model ${model} takes no ${noun}.`, { param });
}
