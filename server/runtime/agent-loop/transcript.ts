import { newId } from "../../domain/ids.ts";
import type { AssistantPart } from "../../domain/model-call.ts";
import type { ModelEvent } from "../models/model.ts";
import { type Delta, marksOf } from "./messages.ts";

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
  /** Number of code units in the metadata that the provider gets back. */
  kept = 0;
  private called = 0;
  // Providers number parts with gaps; ours have none.
  private readonly places = new Map<number, Place>();

  /** Begins a part. One whose text the provider withholds has only metadata. */
  opened({ part, kind }: Pick<Of<"delta">, "part" | "kind">): Place {
    return this.place(part, () => ({ type: kind === "output" ? "text" : "reasoning", text: "" }));
  }

  delta(delta: Pick<Delta, "part" | "kind" | "text" | "ms" | "marks">): void {
    const { index, part } = this.opened(delta);
    const before = this.deltas.length;
    for (const [length, ms] of marksOf(delta)) this.deltas.push(index, length, ms);
    this.length += delta.text.length;
    if (part.type === "tool_call") return;
    part.text += delta.text;
    const isManyMore = Math.floor(this.deltas.length / manyDeltas) > Math.floor(before / manyDeltas);
    if (isManyMore) part.text = inOnePiece(part.text);
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

  metadata(number: number, metadata: Record<string, unknown>): void {
    const { part } = this.place(number, () => ({ type: "reasoning", text: "" }));
    part.metadata = { ...part.metadata, ...metadata };
    this.kept += JSON.stringify(metadata).length;
  }

  /** Deletes a part's provider metadata after its text was changed: it would be refused with another text. */
  disown(number: number): void {
    delete this.places.get(number)?.part.metadata;
  }

  calls(): number {
    return this.called;
  }

  private place(number: number, create: () => AssistantPart): Place {
    const known = this.places.get(number);
    if (known) return known;
    const part = create();
    const place = { index: this.parts.push(part) - 1, part };
    this.places.set(number, place);
    return place;
  }
}

interface Place {
  /** Number of the part in the journal. */
  index: number;
  part: AssistantPart;
}
