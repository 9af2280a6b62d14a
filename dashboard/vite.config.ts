import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const base = "/dashboard/";

/** What every page begins with, in one file. */
const first = { name: "first", tags: ["$initial" as const], priority: 2 };
/**
 * What several pages have in common, in few files: a browser asks HTTP/1.1 for six at a time, so that a hundred small ones
 * take longer than some kilobytes that this page does not need. A higher threshold puts all of it into every page.
 */
const shared = {
  ...{ name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 8_000 },
  test: (id: string) => !late.test(id),
  includeDependenciesRecursively: false,
};
/** Of editors, and of one page: merged with anything else, it would come with every page. */
const late = /node_modules\/(@codemirror|@lezer|crelt|style-mod|w3c-keyname|cronstrue)\//;
/** What the pages of one feature have in common is no other page's. */
const feature = {
  debugName: "feature",
  ...{ name: (id: string) => /src\/features\/([\w-]+)\//.exec(id)?.[1] ?? null, minShareCount: 2, priority: 1 },
  includeDependenciesRecursively: false,
};
/** A group that several entries share is named after all of them. */
const chunkFileNames = ({ name }: { name: string }) => `assets/${name.split("~")[0]}-[hash].js`;

export default defineConfig({
  base,
  plugins: [react({ jsxImportSource: "visible" }), tailwindcss(), blockingBoot()],
  resolve: { alias: { visible: fileURLToPath(new URL("./src/lib/jsx", import.meta.url)) } },
  // The content security policy knows no data: for scripts and styles, so nothing may be inlined.
  build: {
    outDir: "../dist/dashboard",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: "es2023",
    chunkSizeWarningLimit: 700, // In kB, not compressed; what is sent has a budget in e2e/page-weight.e2e.ts.
    // Files that are merged may need each other: each part waits for what it builds upon.
    rolldownOptions: {
      output: { codeSplitting: { groups: [first, feature, shared] }, chunkFileNames, strictExecutionOrder: true },
    },
  },
  server: {
    // `xfwd`: the server compares a page's origin with what the browser spoke, which is plain HTTP here.
    proxy: {
      "/console/api": { target: process.env.RUNNEL_DEV_SERVER ?? "https://localhost:8443", secure: false, xfwd: true },
    },
  },
});

/**
 * Puts `src/boot.js` into the page as a classic script that blocks the first paint, under a hashed name: Vite alone
 * would either defer it as a module or serve it without a hash, and an old copy would stay in caches.
 */
function blockingBoot(): Plugin {
  const file = fileURLToPath(new URL("./src/boot.js", import.meta.url));
  let src = `${base}src/boot.js`;
  let reference: string | null = null;
  return {
    name: "runnel:blocking-boot",
    buildStart() {
      if (this.meta.watchMode || this.environment.mode === "dev") return;
      reference = this.emitFile({ type: "asset", name: "boot.js", source: readFileSync(file, "utf8") });
    },
    generateBundle() {
      if (reference) src = base + this.getFileName(reference);
    },
    transformIndexHtml: {
      order: "post",
      handler: () => [{ tag: "script", attrs: { src }, injectTo: "head-prepend" }],
    },
  };
}
