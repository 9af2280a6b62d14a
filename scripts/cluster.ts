/**
 * A cluster to try out: a Debian Postgres with a synchronous standby and three nodes on loopback at one address, until
 * Ctrl-C. A killed node is restarted on an empty data directory.
 *
 *   npm run cluster
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { startPostgres } from "../server/testing/postgres.ts";
import { isFresh } from "./stamp.ts";

if (!startPostgres.available) {
  console.error("Postgres is missing: apt-get install postgresql");
  process.exit(1);
}
if (!process.env.RUNNEL_EXECUTABLE && !isFresh()) {
  const { build } = await import("./build.ts");
  await build();
}

const { startCluster } = await import("../e2e/cluster/nodes.ts");
const { promise: told, resolve: end } = Promise.withResolvers<void>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => end());
await using cluster = await startCluster();
const door = openDoor(cluster.nodes.map(({ url }) => Number(new URL(url).port)));
await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
console.log(`
  ${address}
  is the address of these nodes:
${cluster.nodes.map(({ url, child }) => `  ${url}   process ${child.pid}`).join("\n")}

  export RUNNEL_CLUSTER=${cluster.url}
  dist/runnel cluster status
  curl -sS -H "Authorization: Bearer ${cluster.keys.test}" ${address}/v1/me

  Kill the leader with kill -9, and ask again. Ctrl-C ends all of it.`);
for (let leader = 0, count = 0; ; ) {
  const isOver = await Promise.race([told.then(() => true), Bun.sleep(250).then(() => false)]);
  if (isOver) break;
  const now = await cluster.leads();
  // A process started in place of the leader leads only once it has the cell again.
  if (now === null || now.child.pid === leader || !(await serves(now.url))) continue;
  leader = now.child.pid;
  console.log(`  ${count++ === 0 ? "" : "Now "}${now.url} leads (process ${leader}).`);
}
door.close();

/** Accepts connections for all nodes, and forwards each to the next listening one. */
function openDoor(ports: number[]): Server {
  let turn = 0;
  const lead = (client: Socket, attempts: number): void => {
    const node = connect({ port: ports[turn++ % ports.length]!, host: "127.0.0.1", allowHalfOpen: true });
    let isThere = false;
    node.on("connect", () => {
      isThere = true;
      client.pipe(node).pipe(client);
    });
    node.on("error", () => (isThere || attempts === 1 ? client.destroy() : lead(client, attempts - 1)));
    client.on("error", () => node.destroy());
    client.on("close", () => node.destroy());
  };
  return createServer({ allowHalfOpen: true }, (client) => lead(client, ports.length));
}

/** True if a node responds as a leader. */
async function serves(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/healthz`).catch(() => null);
  return (await answer?.json().catch(() => null))?.status === "ok";
}
