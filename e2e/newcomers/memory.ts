import { Runnel } from "runnel-sdk";

const runnel = new Runnel();
const notes = await runnel.memory.create({ name: "Notes", kind: "vector" });
let entry = await runnel.memory.entries.create(notes.id, {
  text: "Lime cake needs limes.",
  metadata: { source: "book" },
});
while (entry.status === "processing") {
  await new Promise((resolve) => setTimeout(resolve, 50));
  entry = await runnel.memory.entries.retrieve(notes.id, entry.id);
}
const { data } = await runnel.memory.search(notes.id, { query: "limes", mode: "keyword", top_k: 1 });
console.log(data[0]?.text);

const facts = await runnel.memory.create({ name: "Facts", kind: "kv" });
await runnel.memory.keys.set(facts.id, "language", { value: { code: "no" } });
const { value } = await runnel.memory.keys.retrieve(facts.id, "language");
console.log(JSON.stringify(value));
await runnel.memory.delete(notes.id);
await runnel.memory.delete(facts.id);
