import { newId } from "../core/ids.ts";
import type { AssistantPart } from "../core/model-call.ts";
import type { ModelEvent } from "../models/port.ts";

type Of<T extends ModelEvent["type"]> = Extract<ModelEvent, { type: T }>;

// Three numbers each.
const manyDeltas = 3 * 4096;

/** The same text: what was joined of many is kept as all of them until somebody looks into it, in ten times the memory. */
const inOnePiece = (text: string): string => (text.charCodeAt(0) < 0 ? "" : text);

/** Takes down an answer as it comes: its parts, and how each delta arrived. */
export class Transcript {
  readonly parts: AssistantPart[] = [];
  /** Flat triples: part, length, milliseconds since the step started. */
  readonly deltas: number[] = [];
  /** UTF-16 code units streamed so far. */
  length = 0;
  /** Those of the names and the arguments of its calls. */
  asked = 0;
  /** The same of calls that are still arriving, and of those that have arrived. */
  arriving = 0;
  private called = 0;
  // Providers number their parts with gaps; ours have none.
  private readonly places = new Map<number, number>();

  /** Notes that a part has begun: one whose text stays with the provider has metadata alone. */
  opened({ part, kind }: Pick<Of<"delta">, "part" | "kind">): number {
    return this.place(part, () => ({ type: kind === "output" ? "text" : "reasoning", text: "" }));
  }

  delta({ part, kind, text }: Pick<Of<"delta">, "part" | "kind" | "text">, ms: number): void {
    const place = this.opened({ part, kind });
    const target = this.parts[place]!;
    if (target.type !== "tool_call") target.text += text;
    this.deltas.push(place, text.length, ms);
    if (target.type !== "tool_call" && this.deltas.length % manyDeltas === 0) target.text = inOnePiece(target.text);
    this.length += text.length;
  }

  toolCall({ part, name, arguments: args, metadata }: Of<"tool_call">): void {
    this.asked += name.length + args.length;
    this.called++;
    this.place(part, () => ({
      type: "tool_call",
      id: newId("tool_call"),
      name,
      arguments: args,
      ...(metadata && { metadata }),
    }));
  }

  metadata(part: number, metadata: Record<string, unknown>): void {
    const target = this.parts[this.place(part, () => ({ type: "reasoning", text: "" }))]!;
    target.metadata = { ...target.metadata, ...metadata };
  }

  /** Takes away what the provider said of a part: of another text it is not true, and the provider would refuse it. */
  disown(part: number): void {
    const place = this.places.get(part);
    if (place !== undefined) delete this.parts[place]!.metadata;
  }

  calls(): number {
    return this.called;
  }

  private place(part: number, create: () => AssistantPart): number {
    const known = this.places.get(part);
    if (known !== undefined) return known;
    this.places.set(part, this.parts.length);
    return this.parts.push(create()) - 1;
  }
}
