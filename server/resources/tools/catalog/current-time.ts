/// <reference path="../../../runtime/sandbox/python-modules.d.ts" />

import type { CatalogEntry } from "./catalog-entry.ts";
import source from "./current-time.py" with { type: "text" };

export const entry: CatalogEntry = {
  title: "Time",
  description: "Tells the time in any time zone, and converts between zones.",
  settings: {
    time_zone: { title: "Time zone", description: "The zone if the model names none.", default: "UTC" },
  },
  tools: ({ time_zone = "UTC" }) => [
    {
      name: "current_time",
      type: "code",
      language: "python",
      source: source.replace('"UTC"', JSON.stringify(time_zone)),
      description: "Tells the date, the time and the day of the week, now or of a given time, in a time zone.",
      parameters: {
        type: "object",
        properties: {
          time_zone: {
            type: "string",
            maxLength: 64,
            description: `The name of the zone, such as Europe/Berlin. Default: ${time_zone}.`,
          },
          time: {
            type: "string",
            maxLength: 40,
            description: "A time to convert, such as 2026-07-01T12:00:00+02:00. Default: now.",
          },
        },
        additionalProperties: false,
      },
    },
  ],
};
