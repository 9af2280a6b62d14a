import * as react from "react/jsx-dev-runtime";
import { visibleProps } from "./jsx-runtime.ts";

export { Fragment } from "react/jsx-dev-runtime";
export type { JSX } from "./jsx-runtime.ts";

/** Like `jsx`, with React's warnings. */
export const jsxDEV: typeof react.jsxDEV = (type, props, ...rest) =>
  react.jsxDEV(type, visibleProps(props as Record<string, unknown>), ...rest);
