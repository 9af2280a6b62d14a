import * as react from "react/jsx-runtime";
import { visibleText } from "../visible-text.ts";

export type { JSX } from "react/jsx-runtime";
export { Fragment } from "react/jsx-runtime";

type Props = Record<string, unknown>;

// JSX runtime of the dashboard, set as `jsxImportSource` in tsconfig.json and vite.config.ts.
export const jsx: typeof react.jsx = (type, props, key) => react.jsx(type, visibleProps(props as Props), key);
export const jsxs: typeof react.jsxs = (type, props, key) => react.jsxs(type, visibleProps(props as Props), key);

/** Attributes with text that people read. */
const textProps = ["title", "alt", "placeholder", "aria-label", "aria-description", "aria-valuetext"];

/**
 * Replaces invisible characters in all text props with their names. Done here for all pages, because any text may come
 * from other people.
 */
export function visibleProps(props: Props): Props {
  let nextProps = props;
  const put = (name: string, value: unknown) => {
    if (value === props[name]) return;
    if (nextProps === props) nextProps = { ...props };
    nextProps[name] = value;
  };
  for (const name of textProps) if (typeof props[name] === "string") put(name, visibleText(props[name]));
  put("children", visibleChildren(props.children));
  return nextProps;
}

function visibleChildren(children: unknown): unknown {
  if (typeof children === "string") return visibleText(children);
  if (!Array.isArray(children)) return children;
  const nextChildren = children.map(visibleChildren);
  return nextChildren.every((child, index) => child === children[index]) ? children : nextChildren;
}
