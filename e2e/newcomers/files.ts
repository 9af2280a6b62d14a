import { Runnel } from "runnel-sdk";

const runnel = new Runnel();
const file = await runnel.files.upload(new Blob(["Lime cake needs limes."]), {
  filename: "cake.txt",
  purpose: "attachment",
});
const content = await runnel.files.content(file.id);
console.log(file.filename, file.bytes, await content.text());

const { agent } = await runnel.agents.sync("files", { instructions: "Read.", model: "test/echo" });
const run = await runnel.runs.run(agent, [
  {
    role: "user",
    content: [
      { type: "text", text: "What is in it?" },
      { type: "file", file_id: file.id },
    ],
  },
]);
console.log(run.status);
await runnel.files.delete(file.id);
