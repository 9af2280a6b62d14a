import { expect, test } from "bun:test";
import { type JailFacts, jailAdvice } from "./jail-advice.ts";

const facts = { kernel: "6.1.0-37-amd64", modules: "capability,landlock", filtered: false, container: false };
const refused = (what: string) => [`This system has no jail: ${what} was refused.`];

test.each([
  ["an old kernel", "Landlock", { kernel: "5.10.0" }, "5.13"],
  ["a kernel that was started without it", "Landlock", { modules: "capability,yama" }, "lsm=landlock,capability,yama"],
  [
    "a container",
    "Landlock",
    { filtered: true, container: true },
    "seccomp profile must allow landlock_create_ruleset",
  ],
  ["a service", "Landlock", { filtered: true }, "SystemCallFilter=@system-service"],
  ["a container", "seccomp", { filtered: true, container: true }, "seccomp profile must allow prctl and seccomp"],
  ["an old kernel", "closing of files", { kernel: "5.10.0" }, "5.11"],
] as [string, string, Partial<JailFacts>, string][])(
  "%s that refuses %s gets advice on what to change",
  (_, what, own, said) => {
    expect(jailAdvice(refused(what), { ...facts, ...own })).toContain(said);
  },
);

test("there is no advice if the cause is unknown", () => {
  expect(jailAdvice(["reach the parent's listeners 2 times"], facts)).toBeNull();
  expect(jailAdvice(refused("Landlock"), facts)).toBeNull();
});
