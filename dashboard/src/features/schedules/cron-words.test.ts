import { expect, test } from "bun:test";
import { cronWords } from "./cron-words.ts";

test.each([
  ["0 9 * * mon-fri", "At 09:00, Monday through Friday"],
  ["0 9 * * *", "At 09:00"],
  ["30 7,19 * * *", "At 07:30 and 19:30"],
  ["0 9 * * 1", "At 09:00, only on Monday"],
  ["0 9 * * mon,wed,fri", "At 09:00, only on Monday, Wednesday, and Friday"],
  ["0 0 1,15 * *", "At 00:00, on day 1 and 15 of the month"],
  ["0 6 2 jan *", "At 06:00, on day 2 of the month, only in January"],
  ["0 6 13 * 5", "At 06:00, on day 13 of the month, and on Friday"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["*/15 8-18 * * mon-fri", "Every 15 minutes, between 08:00 and 18:59, Monday through Friday"],
  ["0 * * * *", "Every hour"],
  ["5 */2 * * *", "At 5 minutes past the hour, every 2 hours"],
  ["0 9-17 * * 0", "Every hour, between 09:00 and 17:00, only on Sunday"],
  ["7-20/3 4 * * *", "Every 3 minutes, minutes 7 through 20 past the hour, between 04:00 and 04:59"],
  ["0 9 */2 * *", "At 09:00, every 2 days in a month"],
  ["0 9 * * 7", "At 09:00, only on Sunday"],
])("%s is %s", (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

test.each(["", "every day", "0 9 * *", "0 9 * * * *", "@daily", "99 9 * * *", "0 9 * * x"])(
  "%j is not translated",
  (cron) => {
    expect(cronWords(cron)).toBeNull();
  },
);
