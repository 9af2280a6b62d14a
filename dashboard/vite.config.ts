import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const base = "/dashboard/";

/** Code that every page needs, in one chunk. */
const first = { name: "first", tags: ["$initial" as const], priority: 2 };
/**
 * Code shared by several pages, in few chunks: over HTTP/1.1 a browser fetches six at a time, so a hundred small files
 * take longer than some unneeded kilobytes. A higher threshold would put all of it into every page.
 */
const shared = {
  name: "shared",
  minShareCount: 2,
  entriesAware: true,
  entriesAwareMergeThreshold: 8_000,
  test: (id: string) => !late.test(id),
  includeDependenciesRecursively: false,
};
/** Libraries of editors and of single pages: merged with other code, every page would load them. */
const late = /node_modules\/(@codemirror|@lezer|crelt|style-mod|w3c-keyname|cronstrue)\//;
/** Code shared by the pages of one feature stays out of other pages. */
const feature = {
  debugName: "feature",
  name: (id: string) => /src\/features\/([\w-]+)\//.exec(id)?.[1] ?? null,
  minShareCount: 2,
  priority: 1,
  includeDependenciesRecursively: false,
};
/** A chunk shared by several entries would be named after all of them. */
const chunkFileNames = ({ name }: { name: string }) => `assets/${name.split("~")[0]}-[hash].js`;

export default defineConfig({
  base,
  plugins: [react({ jsxImportSource: "visible" }), tailwindcss(), blockingBoot()],
  resolve: { alias: { visible: fileURLToPath(new URL("./src/lib/jsx", import.meta.url)) } },
  // The content security policy forbids data: for scripts and styles, so nothing may be inlined.
  build: {
    outDir: "../dist/dashboard",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: "es2023",
    chunkSizeWarningLimit: 700, // In kB, uncompressed; e2e/page-weight.e2e.ts limits the transferred size.
    // Merged files may depend on each other: each runs after its dependencies.
    rolldownOptions: {
      output: { codeSplitting: { groups: [first, feature, shared] }, chunkFileNames, strictExecutionOrder: true },
    },
  },
  server: {
    // `xfwd`: the server compares a page's origin with the protocol of the browser, which is plain HTTP here.
    proxy: {
      "/console/api": { target: process.env.RUNNEL_DEV_SERVER ?? "https://localhost:8443", secure: false, xfwd: true },
    },
  },
});

/**
 * Adds `src/boot.js` to the page as a classic script that blocks the first paint, with a hashed name. Vite alone would
 * either defer it as a module or serve it without a hash, and caches would keep old copies.
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
