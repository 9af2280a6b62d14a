import { Runnel } from "runnel-sdk";

const runnel = new Runnel();
const { agent } = await runnel.agents.sync("threads", { instructions: "", model: "test/echo" });
const thread = await runnel.threads.create({ user_id: "ada", metadata: { topic: "cake" } });
for (const input of ["Hello", "And again"])
  await runnel.runs.run(agent, input, { thread_id: thread.id, if_thread_busy: "queue" });
for await (const message of runnel.threads.messages.list(thread.id, { order: "asc" }))
  console.log(message.role, JSON.stringify(message.content));
await runnel.threads.delete(thread.id);
