import { expect, test } from "bun:test";
import { browserCommand } from "./open-browser.ts";

test.each<[string, string, Record<string, string>, string[] | null]>([
  ["a desktop of Linux", "linux", { DISPLAY: ":0" }, ["xdg-open"]],
  ["a desktop of Linux with Wayland", "linux", { WAYLAND_DISPLAY: "wayland-0" }, ["xdg-open"]],
  ["macOS", "darwin", {}, ["open"]],
  ["Windows", "win32", {}, ["rundll32", "url.dll,FileProtocolHandler"]],
])("on %s the browser opens", (_, system, variables, command) => {
  expect(browserCommand(system, variables)).toEqual(command);
});

test.each<[string, string, Record<string, string>]>([
  ["where no desktop is", "linux", {}],
  ["in CI", "darwin", { CI: "true" }],
  ["over SSH", "linux", { DISPLAY: "localhost:10.0", SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }],
])("no browser opens %s", (_, system, variables) => {
  expect(browserCommand(system, variables)).toBeNull();
});
