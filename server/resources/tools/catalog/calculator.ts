/// <reference path="../../../runtime/sandbox/python-modules.d.ts" />

import source from "./calculator.py" with { type: "text" };
import type { CatalogEntry } from "./catalog-entry.ts";

export const entry: CatalogEntry = {
  title: "Calculator",
  description: "Computes exactly, with decimal fractions as on paper.",
  settings: {},
  tools: () => [
    {
      name: "calculate",
      type: "code",
      language: "python",
      source,
      description:
        "Computes an expression exactly, such as (1.1 + 2.2) * 3, 2 ** 64, sqrt(2) or round(10 / 3, 2). Percent: 19 / 100.",
      parameters: {
        type: "object",
        properties: {
          expression: {
            type: "string",
            minLength: 1,
            maxLength: 1000,
            description:
              "Numbers, + - * / // % **, parentheses, abs, round, min, max, sum, sqrt, exp, log, log10, log2, sin, cos, tan, asin, acos, atan, degrees, radians, factorial, gcd, lcm, floor, ceil, pi, e.",
          },
        },
        required: ["expression"],
        additionalProperties: false,
      },
    },
  ],
};
