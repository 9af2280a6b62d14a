import { expect, test } from "bun:test";
import { join } from "node:path";
import { newId } from "../../../../server/domain/ids.ts";
import { actionWord, auditActions, auditPlace, auditTarget, auditWords, targetKind } from "./audit-actions.ts";

const server = join(import.meta.dir, "../../../../server");

/** Returns the audit actions in a server source file: literals, or `<what>.${done}` expanded by the object's words. */
function actionsIn(source: string): string[] {
  const said = [...source.matchAll(/\b(?:note|byPerson)\((?:[^()"]|\([^()]*\))*"([a-z_.]+)"/g)].map(
    (match) => match[1]!,
  );
  const written = [...source.matchAll(/\baction(?: =|:) "([a-z_.]+)"/g)].map((match) => match[1]!);
  const deleted = [...source.matchAll(/\bnoteDeleted\(\w+, \{ type: "(\w+)"/g)].map((match) => `${match[1]}.deleted`);
  const what = /note\([^`]*`(\w+)\.\$\{\w+\}`/.exec(source)?.[1];
  const done = what ? said.filter((word) => !word.includes(".")).map((word) => `${what}.${word}`) : [];
  return [...said.filter((word) => word.includes(".")), ...written, ...deleted, ...done];
}

// A missing action cannot be filtered by; an extra one never matches.
test("the audit filter offers exactly the actions that the server records", async () => {
  const noted = new Set<string>();
  for await (const path of new Bun.Glob("**/*.ts").scan(server)) {
    if (path.endsWith(".test.ts") || path.startsWith("testing/")) continue;
    const source = await Bun.file(join(server, path)).text();
    if (source.includes("audit.note(")) for (const action of actionsIn(source)) noted.add(action);
  }
  expect(auditActions.toSorted()).toEqual([...noted].sort());
});

test("each action has a sentence and a filter label of its own", () => {
  for (const action of auditActions) expect(auditWords(action).before).toMatch(/^[a-z]/);
  expect(new Set(auditActions.map(actionWord)).size).toBe(auditActions.length);
  expect(actionWord("agent.created")).toBe("Created agent");
  expect(auditWords("robot.danced")).toEqual({ before: "did robot.danced to ", behind: "" });
});

test("a target is named and links to its page unless it was deleted", () => {
  const target = { type: "agent", id: newId("agent") };
  expect(auditTarget({ target, details: { name: "Support" } })).toBe("Support");
  expect(auditTarget({ target, details: {} })).toBe(target.id);
  expect(auditPlace({ action: "agent.updated", target, details: {} })).toBe(`/agents/${target.id}`);
  expect(auditPlace({ action: "agent.deleted", target, details: {} })).toBeNull();
  const model = { type: "model", id: "openai/gpt" };
  expect(auditPlace({ action: "model_price.set", target: model, details: {} })).toBeNull();
});

test("a decision is named after its tool and links to its run", () => {
  const [target, run_id] = [{ type: "tool_call", id: newId("tool_call") }, newId("run")];
  const entry = { action: "tool_call.approved", target, details: { run_id, tool: "transfer" } };
  expect([auditTarget(entry), auditPlace(entry)]).toEqual(["transfer", `/runs/${run_id}`]);
});

test("target types have the same labels as in the rest of the dashboard", () => {
  const said = [
    { type: "api_key", id: newId("api_key", 0) },
    { type: "memory", id: newId("memory", 0) },
    { type: "user", id: "usr_1" },
    { type: "model_connection", id: "openai" },
  ].map(targetKind);
  expect(said).toEqual(["API key", "Memory store", "Person", "Model connection"]);
});
