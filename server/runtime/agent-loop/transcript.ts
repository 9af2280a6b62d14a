import { newId } from "../../domain/ids.ts";
import type { AssistantPart } from "../../domain/model-call.ts";
import type { ModelEvent } from "../models/model.ts";

type Of<T extends ModelEvent["type"]> = Extract<ModelEvent, { type: T }>;

// Three numbers per delta.
const manyDeltas = 3 * 4096;

/** Flattens a string that was built by concatenation: a rope takes ten times the memory until it is read. */
const inOnePiece = (text: string): string => (text.charCodeAt(0) < 0 ? "" : text);

/** Records an answer as it is streamed: its parts, and length and time of each delta. */
export class Transcript {
  readonly parts: AssistantPart[] = [];
  /** Flat triples: part, length, milliseconds since the step started. */
  readonly deltas: number[] = [];
  /** Number of UTF-16 code units streamed so far. */
  length = 0;
  /** Number of code units in the names and arguments of its calls. */
  asked = 0;
  /** Same, including arguments that are still arriving. */
  arriving = 0;
  private called = 0;
  // Providers number parts with gaps; ours have none.
  private readonly places = new Map<number, number>();

  /** Begins a part. One whose text the provider withholds has only metadata. */
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

  /** Deletes a part's provider metadata after its text was changed: it would be refused with another text. */
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
