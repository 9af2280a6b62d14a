import { expect, test } from "bun:test";
import { cronWords } from "./cron-words.ts";

test.each([
  ["0 9 * * mon-fri", "Monday to Friday at 09:00"],
  ["0 9 * * *", "Every day at 09:00"],
  ["30 7,19 * * *", "Every day at 07:30 and 19:30"],
  ["0 9 * * 1", "On Mondays at 09:00"],
  ["0 9 * * mon,wed,fri", "On Mondays, Wednesdays and Fridays at 09:00"],
  ["0 0 1,15 * *", "On the 1st and 15th at 00:00"],
  ["0 6 2 jan *", "On the 2nd at 06:00, in January"],
  ["0 6 13 * 5", "On the 13th or on Fridays at 06:00"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["*/15 8-18 * * mon-fri", "Every 15 minutes from 08:00 to 18:59, Monday to Friday"],
  ["0 * * * *", "Every hour"],
  ["5 */2 * * *", "Every 2 hours at minute 5"],
  ["0 9-17 * * 0", "Every hour from 09:00 to 17:00, on Sundays"],
  ["0 9 * * 7", "On Sundays at 09:00"],
])("%s is %s", (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

test.each(["", "every day", "0 9 * *", "0 9 * * * *", "7-20/3 4 * * *", "0 9 */2 * *", "0 9 * * x"])(
  "%j is left as it stands",
  (cron) => {
    expect(cronWords(cron)).toBeNull();
  },
);
