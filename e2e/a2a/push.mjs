import { createServer } from "node:http";
import { StreamResponse, TaskState } from "@a2a-js/sdk";
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";

const heard = [];
let wake = () => {};
const receiver = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const { payload } = StreamResponse.fromJSON(JSON.parse(text));
  heard.push({ path: request.url, headers: request.headers, task: payload.value });
  response.writeHead(204).end();
  wake();
});
await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${receiver.address().port}`;
const until = async (path, state) => {
  for (;;) {
    const found = heard.find((one) => one.path === path && one.task.status.state === state);
    if (found) return found;
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
};
const check = (holds, what) => {
  if (!holds) throw new Error(what);
};

const fetchImpl = (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${process.env.RUNNEL_API_KEY}`);
  return fetch(url, { ...init, headers });
};
const factory = new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }),
);
const client = await factory.createFromUrl(`${process.env.A2A}/`);
const saying = (text, more = {}) => ({
  messageId: crypto.randomUUID(),
  role: 1,
  parts: [{ content: { $case: "text", value: text } }],
  ...more,
});
const authentication = { scheme: "Bearer", credentials: "s3cret" };
const taskPushNotificationConfig = {
  tenant: "",
  id: "first",
  taskId: "",
  url: `${url}/first`,
  token: "t0ken",
  authentication,
};
const configuration = { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately: true };
const task = await client.sendMessage({ message: saying("Go."), configuration });
const asked = await until("/first", TaskState.TASK_STATE_INPUT_REQUIRED);
check(asked.headers["x-a2a-notification-token"] === "t0ken", "token");
check(asked.headers.authorization === "Bearer s3cret", "authentication");
check(asked.task.id === task.id, "task");
const second = { tenant: "", id: "second", taskId: task.id, url: `${url}/second`, token: "other" };
await client.createTaskPushNotificationConfig(second);
const read = await client.getTaskPushNotificationConfig({ tenant: "", taskId: task.id, id: "second" });
check(read.url === second.url && read.token === second.token, "read");
await client.deleteTaskPushNotificationConfig({ tenant: "", taskId: task.id, id: "first" });
const left = await client.listTaskPushNotificationConfig({ tenant: "", taskId: task.id, pageSize: 0, pageToken: "" });
check(left.configs.map(({ id }) => id).join() === "second", "list");
await client.sendMessage({ message: saying("Sunny.", { taskId: task.id }) });
const done = await until("/second", TaskState.TASK_STATE_COMPLETED);
check(done.headers["x-a2a-notification-token"] === "other", "second token");
check(
  !heard.some(({ path, task }) => path === "/first" && task.status.state === TaskState.TASK_STATE_COMPLETED),
  "deleted",
);
process.stdout.write(`${done.task.artifacts[0].parts[0].content.value}\n`);
receiver.close();
