/**
 * A cluster to look at: a Postgres of Debian with a synchronous standby and three nodes on loopback, until Ctrl-C. A node
 * that is killed is started again on an empty data directory.
 *
 *   npm run cluster
 */
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
const [first] = cluster.nodes;
console.log(`
  Any of these addresses takes requests:
${cluster.nodes.map(({ url, child }) => `  ${url}   process ${child.pid}`).join("\n")}

  export RUNNEL_CLUSTER=${cluster.url}
  dist/runnel cluster status
  curl -H "Authorization: Bearer ${cluster.keys.test}" ${first!.url}/v1/me

  Kill the leader with kill -9, and ask another address. Ctrl-C ends all of it.`);
for (let leader = "", count = 0; ; ) {
  const isOver = await Promise.race([told.then(() => true), Bun.sleep(250).then(() => false)]);
  if (isOver) break;
  const now = await cluster.leads();
  if (now === null || now.url === leader) continue;
  leader = now.url;
  console.log(`  ${count++ === 0 ? "" : "Now "}${leader} leads (process ${now.child.pid}).`);
}
