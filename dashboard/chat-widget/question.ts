import {
  addressWarning,
  type ElicitationField,
  elicitationContent,
  elicitationFields,
} from "../../server/domain/elicitation-form.ts";
import type { Elicitation } from "../../server/domain/run-event.ts";
import type { Answerable } from "./conversation.ts";
import { make, makeButton } from "./make.ts";

type Answer = NonNullable<Answerable["elicitation"]>;

/** The question of an MCP server: a form, or an address to open. */
export function questionNode({ id, message, requested_schema, url }: Elicitation, send: (answer: Answer) => void) {
  const form = make("form", "question");
  form.append(make("p", "", message));
  const fields = requested_schema ? elicitationFields(requested_schema) : [];
  const inputs = fields.map((field) => [field, inputOf(field)] as const);
  for (const [{ label, hint, type }, input] of inputs) {
    const line = make("label", type === "boolean" ? "check" : "");
    const name = make("span", "", label);
    line.append(...(type === "boolean" ? [input, name] : [name, input]));
    if (hint) line.append(make("small", "", hint));
    form.append(line);
  }
  if (url !== undefined) {
    const link = make("a", "", URL.parse(url)?.host ?? url);
    link.href = url;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    form.append(link, make("small", "", url));
    const warning = addressWarning(url);
    if (warning !== null) form.append(make("strong", "", warning));
  }
  const accept = makeButton(url === undefined ? "Send" : "Continue", "main");
  accept.type = "submit";
  const acts = make("div", "acts");
  acts.append(
    accept,
    makeButton("Decline", "", () => send({ id, action: "decline" })),
    makeButton("Cancel", "", () => send({ id, action: "cancel" })),
  );
  form.append(acts);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = Object.fromEntries(inputs.map(([{ name }, input]) => [name, valuesOf(input)]));
    const content = requested_schema && { content: elicitationContent(fields, values) };
    send({ id, action: "accept", ...content });
  });
  return form;
}

function inputOf(field: ElicitationField): HTMLInputElement | HTMLSelectElement {
  const { type, options, isRequired, initial } = field;
  if (type === "choice" || type === "choices") {
    const select = make("select");
    select.multiple = type === "choices";
    select.required = isRequired;
    const none = type === "choice" ? [{ value: "", label: "–" }] : [];
    for (const { value, label } of [...none, ...options]) {
      const option = make("option", "", label);
      option.value = value;
      option.selected = initial.includes(value);
      select.append(option);
    }
    return select;
  }
  const input = make("input");
  input.type = type === "boolean" ? "checkbox" : type === "number" ? "number" : field.input;
  if (type === "boolean") input.checked = initial[0] === "true";
  else input.value = initial[0] ?? "";
  input.required = isRequired && type !== "boolean";
  if (type === "number") input.step = "any";
  return input;
}

const valuesOf = (input: HTMLInputElement | HTMLSelectElement): string[] =>
  input instanceof HTMLSelectElement
    ? Array.from(input.selectedOptions, ({ value }) => value).filter((value) => value !== "")
    : [input.type === "checkbox" ? String(input.checked) : input.value];
