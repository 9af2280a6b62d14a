import { visibleText } from "../src/lib/visible-text.ts";

/** Creates an element with a class and a text. The text is never parsed as HTML. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name = "",
  text?: string,
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = visibleText(text);
  return node;
}

export function makeButton(text: string, name = "", onPress?: (event: MouseEvent) => void): HTMLButtonElement {
  const button = make("button", name, text);
  button.type = "button";
  if (onPress) button.addEventListener("click", onPress);
  return button;
}
