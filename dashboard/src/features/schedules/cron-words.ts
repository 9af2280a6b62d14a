const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** One field of a cron expression: any value, each step, or values and ranges by name. */
type Field = { kind: "any" } | { kind: "step"; step: number } | { kind: "some"; parts: [from: number, to: number][] };

/** A cron expression as people say it: “Monday to Friday at 09:00”. Null for one that is better read as it stands. */
export function cronWords(cron: string): string | null {
  const texts = cron.trim().toLowerCase().split(/\s+/);
  if (texts.length !== 5) return null;
  const [minute, hour, date, month, day] = [
    readField(texts[0]!),
    readField(texts[1]!),
    readField(texts[2]!),
    readField(texts[3]!, months, 1),
    readField(texts[4]!, days, 0),
  ];
  if (!minute || !hour || !date || !month || !day || date.kind === "step" || month.kind === "step") return null;
  const time = timeWords(minute, hour);
  const which = dayWords(date, day);
  if (!time || which === null) return null;
  const within = month.kind === "some" ? `, in ${list(month.parts, (at) => months[at - 1] ?? "")}` : "";
  if (time.startsWith("at ")) return `${which ? capital(which) : "Every day"} ${time}${within}`;
  return `${capital(time)}${which && `, ${which}`}${within}`;
}

const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1);

function readField(text: string, names: readonly string[] = [], first = 0): Field | null {
  if (text === "*") return { kind: "any" };
  const step = /^\*\/(\d+)$/.exec(text);
  if (step) return { kind: "step", step: Number(step[1]) };
  const value = (word: string): number => {
    const named = names.findIndex((name) => name.slice(0, 3).toLowerCase() === word);
    return named >= 0 ? named + first : /^\d+$/.test(word) ? Number(word) : Number.NaN;
  };
  const parts = text.split(",").map((part): [number, number] => {
    const [from = "", to = from, ...more] = part.split("-");
    return more.length > 0 ? [Number.NaN, Number.NaN] : [value(from), value(to)];
  });
  return parts.some(([from, to]) => Number.isNaN(from) || Number.isNaN(to)) ? null : { kind: "some", parts };
}

const two = (value: number): string => String(value).padStart(2, "0");

function timeWords(minute: Field, hour: Field): string | null {
  if (minute.kind === "any" && hour.kind === "any") return "every minute";
  if (minute.kind === "step" && hour.kind === "any") return `every ${minute.step} minutes`;
  if (minute.kind === "step" && hour.kind === "some" && hour.parts.length === 1) {
    const [from, to] = hour.parts[0]!;
    return `every ${minute.step} minutes from ${two(from)}:00 to ${two(to)}:59`;
  }
  const at = single(minute);
  if (at === null) return null;
  const past = at === 0 ? "" : ` at minute ${at}`;
  if (hour.kind === "any") return `every hour${past}`;
  if (hour.kind === "step") return `every ${hour.step} hours${past}`;
  if (hour.parts.every(([from, to]) => from === to))
    return `at ${list(hour.parts, (value) => `${two(value)}:${two(at)}`)}`;
  if (hour.parts.length > 1) return null;
  const [from, to] = hour.parts[0]!;
  return `every hour from ${two(from)}:${two(at)} to ${two(to)}:${two(at)}`;
}

const single = (field: Field): number | null =>
  field.kind === "some" && field.parts.length === 1 && field.parts[0]![0] === field.parts[0]![1]
    ? field.parts[0]![0]
    : null;

/** Which days; empty for all of them, null for what has no words here. */
function dayWords(date: Field, day: Field): string | null {
  if (day.kind === "step" || date.kind === "step") return null;
  const dates = date.kind === "some" && `on the ${list(date.parts, ordinal)}`;
  if (day.kind === "any") return dates || "";
  const name = (at: number) => days[at % 7] ?? "";
  const isRange = day.parts.length === 1 && day.parts[0]![0] !== day.parts[0]![1];
  const weekdays = isRange
    ? `${name(day.parts[0]![0])} to ${name(day.parts[0]![1])}`
    : `on ${list(day.parts, (at) => `${name(at)}s`)}`;
  return dates ? `${dates} or ${weekdays}` : weekdays;
}

function list(parts: readonly [number, number][], word: (value: number) => string): string {
  const words = parts.map(([from, to]) => (from === to ? word(from) : `${word(from)} to ${word(to)}`));
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function ordinal(value: number): string {
  const suffix = ["th", "st", "nd", "rd"][value % 100 > 10 && value % 100 < 14 ? 0 : value % 10] ?? "th";
  return `${value}${suffix}`;
}
