/** @jsxImportSource visible */
import { expect, test } from "bun:test";
import { renderToStaticMarkup } from "react-dom/server";
import * as dev from "./jsx-dev-runtime.ts";
import * as runtime from "./jsx-runtime.ts";

const name = "exe\u202egnp";
const shown = "exe‹U+202E›gnp";

function Part({ children }: { children: string }) {
  return <b>{children}</b>;
}

test("text from other people is rendered without bidirectional control characters", () => {
  const html = renderToStaticMarkup(
    <section aria-label={`Agent ${name}`} title={name}>
      {name} waits
      <Part>{name}</Part>
      {[name, ["in lists", name]]}
      <input placeholder={name} defaultValue={name} />
      <select>
        <option>{name}</option>
      </select>
    </section>,
  );
  expect(html.split(shown)).toHaveLength(9);
  // Keep the value of an input, because it is what gets sent.
  expect(html.match(/\u202e/g)).toHaveLength(1);
});

test("both JSX runtimes give the same result and leave harmless props unchanged", () => {
  const props = { children: ["a", 1, null, ["b"]], title: "c" };
  expect(runtime.visibleProps(props)).toBe(props);
  expect(dev.jsxDEV("p", { children: name }, undefined, false).props).toEqual({ children: shown });
  expect(runtime.jsx("p", { children: name }).props).toEqual({ children: shown });
});
