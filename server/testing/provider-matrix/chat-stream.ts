import type { Answer } from "./entry.ts";

/** Differences of a provider's stream of chat completion chunks. */
interface ChatFormat {
  model: string;
  /** Form of reasoning in a delta. */
  reasoning?(text: string): object;
  /** Id of the nth call. */
  callId?(index: number): string;
  /** True if the arguments of a call come in pieces. */
  isPiecewise?: boolean;
  usage: object;
  /** True if the last chunk has the finish reason and the usage; else the usage has a chunk of its own. */
  isUsageLast?: boolean;
  /** Lines before the first chunk, such as comments. */
  before?: string;
  /** Fields of each chunk, each choice and the last chunk. */
  more?: object;
  moreOfChoice?: object;
  moreAtEnd?: object;
  finish?: Partial<Record<Answer["finish"], string>>;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

/** Returns an answer as chunks of a chat completion. */
export function chatStream(answer: Answer, format: ChatFormat): string {
  const shape = {
    id: "cmpl-7",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: format.model,
    ...format.more,
  };
  const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
    data({ ...shape, choices: [{ index: 0, delta, finish_reason, ...format.moreOfChoice }], ...more });
  const { reasoning = (text: string) => ({ reasoning_content: text }) } = format;
  const finish = format.finish?.[answer.finish] ?? answer.finish;
  const atEnd = { ...format.moreAtEnd, ...(format.isUsageLast && { usage: format.usage }) };
  return [
    format.before ?? "",
    chunk({ role: "assistant", content: "" }),
    ...(answer.reasoning === undefined ? [] : halves(answer.reasoning).map((text) => chunk(reasoning(text)))),
    ...(answer.text === undefined ? [] : halves(answer.text).map((content) => chunk({ content }))),
    ...(answer.calls ?? []).flatMap((call, index) => callDeltas(call, index, format).map((delta) => chunk(delta))),
    chunk({}, finish, atEnd),
    format.isUsageLast ? "" : data({ ...shape, choices: [], usage: format.usage }),
    "data: [DONE]\n\n",
  ].join("");
}

const halves = (text: string): string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

function callDeltas({ name, args }: { name: string; args: object }, index: number, format: ChatFormat): object[] {
  const { callId = (at: number) => `call_${at}`, isPiecewise = false } = format;
  const text = JSON.stringify(args);
  const call = (fields: object) => ({ tool_calls: [{ index, ...fields }] });
  const head = { id: callId(index), type: "function" };
  if (!isPiecewise) return [call({ ...head, function: { name, arguments: text } })];
  const pieces = halves(text).map((piece) => call({ function: { arguments: piece } }));
  return [call({ ...head, function: { name, arguments: "" } }), ...pieces];
}
