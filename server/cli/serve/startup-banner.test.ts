import { expect, test } from "bun:test";
import { type StartupBanner, startupBanner } from "./startup-banner.ts";

const first: StartupBanner = {
  version: "1.0.0",
  address: "http://127.0.0.1:8443",
  data_dir: "/data",
  cacert: null,
  http_port: null,
  api_url: "https://runs.example.com/v1",
  dashboard_url: "https://runs.example.com/dashboard",
  setup_link: "https://runs.example.com/dashboard/setup#token",
  needs_public_url: false,
  project: "default",
  keys: { test: "sk_test_1", live: "sk_live_1" },
  recovered_runs: 0,
};

test("a start prints only the public URL, in each address and command", () => {
  const text = startupBanner(first);
  expect(text).toContain('curl -H "Authorization: Bearer sk_test_1" https://runs.example.com/v1/me');
  expect(text).toContain("https://runs.example.com/dashboard/setup#token");
  expect(text).not.toContain("127.0.0.1");
});

test("behind a proxy with an unknown address, no printed command sends a key to the port that refuses plain HTTP", () => {
  const at = (path: string) => `http://127.0.0.1:8443${path}`;
  const text = startupBanner({
    ...first,
    api_url: at("/v1"),
    dashboard_url: at("/dashboard"),
    setup_link: at("/dashboard/setup#token"),
    needs_public_url: true,
  });
  expect(text).toContain('curl -H "Authorization: Bearer sk_test_1" https://YOUR-ADDRESS/v1/me');
  expect(text).toContain("https://YOUR-ADDRESS/dashboard/setup#token");
  expect(text.match(/http:\/\/127.*/g)).toEqual([
    "http://127.0.0.1:8443 through your proxy. Start with --public-url, and its address stands here.",
  ]);
});
