import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const base = "/dashboard/";

export default defineConfig({
  base,
  plugins: [react(), tailwindcss(), blockingBoot()],
  // The content security policy knows no data: for scripts and styles, so nothing may be inlined.
  build: { outDir: "../dist/dashboard", emptyOutDir: true, assetsInlineLimit: 0, target: "es2023" },
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
