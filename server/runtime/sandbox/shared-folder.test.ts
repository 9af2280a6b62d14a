import { expect, test } from "bun:test";
import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { sha256 } from "../../lib/hash.ts";
import { encodeSharedFile } from "./end-message.ts";
import type { Packet } from "./packet.ts";
import type { SharedFolder } from "./program.ts";
import { createResultCollector } from "./program-result.ts";
import { folderChanges } from "./shared-folder.ts";

// A child that a program has taken over may say anything about its folder.

const bytesOf = (text: string) => new TextEncoder().encode(text);
const before = (name: string, text: string) => ({ name, bytes: bytesOf(text), sha256: sha256(text) });
const folder: SharedFolder = { files: [before("a", "a")], saves_variables: true, variables: null };
const json = (value: unknown) => bytesOf(JSON.stringify(value));
const packet = (kind: Packet["kind"], payload: Uint8Array): Packet => ({ kind, payload: payload.slice() });
const changed = (name: string, bytes = bytesOf("x")) => packet("changed", encodeSharedFile({ name, bytes }));
const last = { error: null, files_dropped: 0, peak_memory_mb: 1, shared: { dropped: 0, lost: [], notes: [] } };
const saving = packet("saving", json(last));
const ended = packet("ended", json(last));

function outcomeOf(packets: Packet[], shared: SharedFolder | undefined = folder) {
  const collector = createResultCollector(shared);
  for (const each of packets) collector.receive(each);
  return collector.outcome(null, 1);
}

test("the changes of a folder are taken if the program ended in order", () => {
  const variables = packet("variables", bytesOf("v"));
  const outcome = outcomeOf([changed("b/c"), packet("removed", json(["a"])), saving, variables, ended]);
  expect(outcome.shared).toEqual({
    changed: [{ name: "b/c", bytes: bytesOf("x") }],
    removed: ["a"],
    dropped: 0,
    variables: bytesOf("v"),
    lost: [],
    notes: [],
  });
});

test("files are in the order of their names, whatever the child says", () => {
  const names = ["b", "a/b", "\uff5e", "B", "\u{1f600}"];
  const { shared } = outcomeOf([...names.map((name) => changed(name)), saving, ended]);
  const right = ["B", "a/b", "b", "\u{1f600}", "\uff5e"];
  expect(shared?.changed.map(({ name }) => name)).toEqual(right);
  const left = names.map((path) => ({ path, size: 0, read: () => new Uint8Array() }));
  const { changed: taken, notes } = folderChanges([], left, ["d", "c"]);
  expect(taken.map(({ name }) => name)).toEqual(right);
  expect(notes).toEqual(['2 files were not kept (is not a plain file): "c", "d".']);
});

test.each<[string, Packet[]]>([
  ["a path that leads out", [changed("../b")]],
  ["an absolute path", [changed("/b")]],
  ["a path that is no text", [packet("changed", new Uint8Array([1, 0, 255]))]],
  ["a path longer than the packet", [packet("changed", new Uint8Array([255, 255, 97]))]],
  ["one file twice", [changed("b"), changed("b")]],
  ["too many files", Array.from({ length: workspaceLimits.files + 1 }, (_, i) => changed(`f${i}`))],
  ["too many bytes", [changed("b", new Uint8Array(workspaceLimits.bytes)), changed("c")]],
  ["a removed file that it was not given", [packet("removed", json(["b"]))]],
  ["removed files that are no list", [packet("removed", json({}))]],
  ["variables before they are saved", [packet("variables", bytesOf("v"))]],
  ["variables twice", [saving, packet("variables", bytesOf("v")), packet("variables", bytesOf("v"))]],
  ["variables that are too large", [saving, packet("variables", new Uint8Array(workspaceLimits.variables_bytes + 1))]],
  ["a result after its end", [saving, packet("result", bytesOf("1"))]],
  ["that it saves twice", [saving, saving]],
])("a child that says %s is refused", (_, packets) => {
  expect(() => outcomeOf(packets)).toThrow();
});

test("a child without a folder can say nothing about one", () => {
  expect(() => createResultCollector().receive(changed("b"))).toThrow();
  const scripts = createResultCollector({ ...folder, saves_variables: false });
  expect(() => scripts.receive(saving)).toThrow();
});

test("a folder above its limits is not taken, also if each program stays within them", () => {
  const half = { name: "a", bytes: new Uint8Array(workspaceLimits.bytes - 10), sha256: "" };
  const full: SharedFolder = { files: [half], saves_variables: false, variables: null };
  expect(outcomeOf([changed("b", new Uint8Array(10)), ended], full).shared?.changed).toHaveLength(1);
  expect(outcomeOf([changed("b", new Uint8Array(11)), ended], full).shared).toBeUndefined();
});

test("texts about a folder are bounded", () => {
  const shared = {
    dropped: 1e99,
    lost: Array(100).fill("x".repeat(200)),
    notes: [1, ...Array(20).fill("y".repeat(1000))],
  };
  const { lost, notes, dropped } = outcomeOf([packet("ended", json({ ...last, shared }))]).shared!;
  expect([lost.length, lost[0]?.length, notes.length, notes[0]?.length, dropped]).toEqual([20, 100, 8, 500, 0]);
});

test("unchanged files are kept before new ones, and a replaced file that does not fit is gone and named", () => {
  const left = (path: string, text: string) => ({ path, size: text.length, read: () => bytesOf(text) });
  const { changed, removed, dropped, notes } = folderChanges(
    [before("z", "same"), before("b", "old")],
    [left("a", "new"), { ...left("b", "x"), size: workspaceLimits.bytes }, left("z", "same")],
  );
  expect([changed.map(({ name }) => name), removed, dropped]).toEqual([["a"], ["b"], 1]);
  expect(notes).toEqual(['1 file was not kept (exceeds the folder\'s 33554432 bytes): "b".']);
});
